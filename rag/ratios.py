"""Financial ratios -> the figures they are computed from, by their usual definitions. Pure.

Reports print the figures and seldom the ratio, so a question for one shares no word with the rows
that answer it. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_PROFIT_BEFORE = ("net income", "interest expense", "provision for income taxes")
_EQUITY = "total shareholders equity"
_SALES = "total net sales revenue"
_COST = "cost of sales"
_CURRENT = ("total current assets", "total current liabilities")
_CAPITAL = ("long-term debt", _EQUITY)
_SPENT = "purchases of property plant and equipment"

_DEFINITIONS: dict[str, tuple[str, ...]] = {
    r"ebitda": (*_PROFIT_BEFORE, "depreciation and amortization"),
    r"ebit": ("operating income", *_PROFIT_BEFORE),
    r"gross (?:profit )?margins?|gross profits?": (_SALES, _COST, "gross profit"),
    r"operating (?:profit )?margins?": ("operating income", _SALES),
    r"(?:net )?profit margins?|net (?:income )?margins?": ("net income", _SALES),
    r"effective tax rate": ("income before income taxes", "provision for income taxes"),
    r"return on (?:total )?assets?|roa": ("net income", "total assets"),
    r"return on (?:common |shareholders['’]? )?equity|roe": ("net income", _EQUITY),
    r"return on capital employed|roce": ("operating income", "total assets", _CURRENT[1]),
    r"return on invested capital|invested capital|roic": ("operating income", *_CAPITAL),
    r"working capital|current ratio": _CURRENT,
    r"quick ratio|acid[- ]test": ("cash and equivalents", "receivables", "inventories", *_CURRENT),
    r"cash ratio": ("cash and equivalents", "total current liabilities"),
    r"debt[- ](?:to[- ])?(?:total )?(?:equity|capital|assets?|liabilit\w+)"
    r"|(?:debt|leverage|capitali[sz]ation) ratio": (*_CAPITAL, "total liabilities", "total assets"),
    r"interest coverage|times interest earned": ("operating income", "interest expense"),
    r"days payables?(?: outstanding)?|dpo": ("accounts payable", _COST, "inventories"),
    r"days sales outstanding|dso|receivables? turnover": ("accounts receivable", _SALES),
    r"inventory turnover|days (?:of )?inventory|dio": ("inventories", _COST),
    r"cash conversion cycle": ("inventories", "accounts receivable", "accounts payable", _COST),
    r"asset turnover": (_SALES, "total assets"),
    r"free cash flows?|fcf": ("net cash provided by operating activities", _SPENT),
    r"capital expenditures?|capex": (_SPENT, "cash flows from investing activities"),
    r"dividend payout": ("cash dividends paid", "net income"),
    r"book value": (_EQUITY, "shares outstanding"),
}  # fmt: skip
_PATTERNS = [
    (re.compile(rf"\b(?:{named})\b", re.IGNORECASE), figures)
    for named, figures in _DEFINITIONS.items()
]


@dataclass(frozen=True, slots=True)
class Ratio:
    name: str
    """As the question writes it."""
    figures: tuple[str, ...]


def ratios(question: str) -> list[Ratio]:
    """Those that a question names."""
    return [
        Ratio(match[0], figures)
        for pattern, figures in _PATTERNS
        if (match := pattern.search(question))
    ]


def figures(question: str) -> tuple[str, ...]:
    """What the ratios that a question names are computed from; empty when it names none."""
    return figures_of(ratios(question))


def figures_of(named: Iterable[Ratio]) -> tuple[str, ...]:
    """In the order of the ratios, each once."""
    return tuple(dict.fromkeys(part for ratio in named for part in ratio.figures))
