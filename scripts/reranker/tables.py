"""Questions about invented tables, whose right passage only the document's name tells apart.

The licensed sources hold prose. Reports, price lists and data sheets repeat the same table in each
year's edition, so a re-ranker must read the name of the document and the head of the column.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

NAMES = [
    "Halden Marine",
    "Orsted Foods",
    "Brightwater",
    "Calder & Finch",
    "Novaterra",
    "Kestrel Systems",
    "Pinnacle Rail",
    "Lumenworks",
    "Ashgrove",
    "Tessera Health",
    "Verdant Energy",
    "Corvus Air",
    "Quillon",
    "Marlow Paper",
    "Sable Optics",
    "Ironbridge",
    "Polaris Mutual",
    "Redfern",
    "Silvan",
    "Thornbury",
    "Umbra Labs",
    "Vantage Freight",
    "Westhaven",
    "Zephyr",
]
ROWS = {
    "report": [
        "Total net revenue",
        "Cost of sales",
        "Gross profit",
        "Research and development",
        "Selling expenses",
        "Operating income",
        "Interest expense",
        "Income before taxes",
        "Provision for income taxes",
        "Net income",
        "Diluted earnings per share",
        "Cash and cash equivalents",
        "Inventories",
        "Accounts receivable",
        "Long-term debt",
        "Total assets",
        "Total equity",
        "Capital expenditures",
        "Depreciation and amortization",
        "Dividends paid",
        "Number of employees",
        "Free cash flow",
    ],
    "plan": [
        "Annual deductible",
        "Out-of-pocket limit",
        "Primary care visit",
        "Specialist visit",
        "Emergency room",
        "Generic drugs",
        "Preferred brand drugs",
        "Outpatient surgery",
        "Mental health visit",
        "Eye exam",
        "Hearing aids",
        "Physical therapy",
        "Ambulance",
        "Urgent care",
        "Lab tests",
        "Maternity care",
    ],
    "data sheet": [
        "Rated voltage",
        "Maximum current",
        "Operating temperature",
        "Weight",
        "Width",
        "Height",
        "Tightening torque",
        "Flow rate",
        "Noise level",
        "Protection class",
        "Power consumption",
        "Service interval",
        "Tank capacity",
        "Cable length",
        "Maximum pressure",
        "Battery life",
        "Response time",
        "Resolution",
    ],
}
UNITS = {"report": ("$", "$ ", "", "€"), "plan": ("$",), "data sheet": ("",)}
HEADINGS = {
    "report": ("Financial highlights", "Consolidated statements", "Selected data", "Key figures"),
    "plan": ("Summary of benefits", "What you pay", "Covered services", "Costs"),
    "data sheet": ("Technical data", "Specifications", "Ratings", "Dimensions and limits"),
}
QUARTERS = ("first", "second", "third", "fourth")


@dataclass(frozen=True, slots=True)
class _Edition:
    """One document; `spoken` is how a person names its period."""

    company: str
    kind: str
    file: str
    spoken: str
    columns: tuple[str, str]


def table_groups(count: int, rng: random.Random) -> Iterator[tuple[str, str, list[str]]]:
    """(question, passage that answers, passages that do not), `count` times."""
    for _ in range(count):
        kind = rng.choice(list(ROWS))
        company, other = rng.sample(NAMES, 2)
        year = rng.randint(2012, 2025)
        right = _edition(company, kind, year, rng)
        twins = [
            _edition(company, kind, year + rng.choice((-2, -1, 1)), rng),
            _edition(other, kind, year, rng),
        ]
        rows = rng.sample(ROWS[kind], min(len(ROWS[kind]), 14))
        cut = rng.randint(5, 8)
        asked = rng.choice(rows[:cut])
        negatives = [_passage(twin, rows[:cut], rng) for twin in twins]
        negatives.append(_passage(right, rows[cut:], rng))
        yield _question(asked, right, rng), _passage(right, rows[:cut], rng), negatives


def _edition(company: str, kind: str, year: int, rng: random.Random) -> _Edition:
    quarter = rng.randint(1, 4)
    if kind == "report" and rng.random() < 0.6:
        file = rng.choice(
            (f"{year} Q{quarter} {company}", f"{company} 10 Q {year} q{quarter}",
             f"{company.lower()} q{quarter} {year} results")
        )  # fmt: skip
        spoken = rng.choice(
            (f"Q{quarter} {year}", f"the {QUARTERS[quarter - 1]} quarter of {year}",
             f"the {QUARTERS[quarter - 1]} quarter {year}")
        )  # fmt: skip
        columns = (f"Q{quarter} {year}", f"Q{quarter} {year - 1}")
    else:
        file = rng.choice((f"{company} {kind} {year}", f"{year} {company} {kind}"))
        spoken = rng.choice((f"{year}", f"fiscal {year}" if kind == "report" else f"{year}"))
        columns = (str(year), str(year - 1)) if kind == "report" else ("Standard", "Plus")
    return _Edition(company, kind, file, spoken, columns)


def _passage(edition: _Edition, rows: list[str], rng: random.Random) -> str:
    sign = rng.choice(UNITS[edition.kind])
    lines = [" ".join(edition.columns)]
    for row in rows:
        values = [f"{sign}{rng.choice((rng.randint(1, 99), rng.randint(100, 9999))):,}"] * 2
        values[1] = f"{sign}{rng.randint(1, 9999):,}"
        lines.append(f"{row} {' '.join(values)}")
    head = f"{edition.file} › {rng.choice(HEADINGS[edition.kind])}"
    return f"{head}\n{' '.join(lines)}"


def _question(row: str, edition: _Edition, rng: random.Random) -> str:
    row = row if rng.random() < 0.3 else row[0].lower() + row[1:]
    name, when = edition.company, edition.spoken
    if edition.kind == "data sheet":
        return rng.choice(
            (f"What is the {row} of the {name} {when}?", f"{name} {when} {row}",
             f"Which {row} does the {when} {name} data sheet give?")
        )  # fmt: skip
    if edition.kind == "plan":
        return rng.choice(
            (f"How much is {row} in the {when} {name} plan?", f"{name} {when}: cost of {row}",
             f"What do I pay for {row} under {name} in {when}?")
        )  # fmt: skip
    return rng.choice(
        (f"What was {name}'s {row} in {when}?", f"What {row} did {name} report for {when}?",
         f"{name} {row} {when}", f"By how much did the {row} of {name} change in {when}?")
    )  # fmt: skip
