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
ENDS = ("March 31", "June 30", "September 30", "December 31")
RISKS = (
    "If we fail to manage our {row}, our business could be harmed.",
    "Our {row} may fluctuate from period to period and is difficult to predict.",
    "The preparation of financial statements requires estimates of {row}, among others.",
    "We evaluate {row} regularly and believe that our assumptions are reasonable.",
    "Changes in exchange rates, supply and demand may adversely affect {row}.",
)
"""Sentences that name a row and say nothing of it: the commonest wrong hits in real reports."""
CAUSES = (
    "higher unit volume", "lower freight costs", "growth in services", "unfavorable currency",
    "headcount growth", "the timing of payments", "price increases", "weaker demand",
)  # fmt: skip


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
        kind = rng.choice(("report", "report", "plan", "data sheet"))
        company, other = rng.sample(NAMES, 2)
        year = rng.randint(2012, 2025)
        right = _edition(company, kind, year, rng)
        twins = [
            _edition(company, kind, year + rng.choice((-2, -1, 1)), rng),
            _edition(other, kind, year, rng),
        ]
        rows = rng.sample(ROWS[kind], min(len(ROWS[kind]), rng.choice((12, 14, 20))))
        cut = rng.randint(5, len(rows) - 4)
        asked = rng.sample(rows[:cut], 2)
        write = _prose if kind == "report" and rng.random() < 0.3 else _passage
        negatives = [write(rng.choice(twins), rows[:cut], rng), _passage(right, rows[cut:], rng)]
        negatives.append(
            _risks(right, asked, rng) if kind == "report" and rng.random() < 0.6
            else write(twins[1], rows[:cut], rng)
        )  # fmt: skip
        yield _question(asked, right, rng), write(right, rows[:cut], rng), negatives


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
        if rng.random() < 0.5:
            end = ENDS[quarter - 1]
            columns = (f"Three Months Ended {end}, {year}", f"{end}, {year - 1}")
    else:
        file = rng.choice((f"{company} {kind} {year}", f"{year} {company} {kind}"))
        spoken = rng.choice((f"{year}", f"fiscal {year}" if kind == "report" else f"{year}"))
        columns = (str(year), str(year - 1)) if kind == "report" else ("Standard", "Plus")
    return _Edition(company, kind, file, spoken, columns)


def _amount(sign: str, rng: random.Random) -> str:
    value = rng.choice((rng.randint(1, 99), rng.randint(100, 9999), rng.randint(10_000, 99_999)))
    return f"({value:,})" if sign and rng.random() < 0.1 else f"{sign}{value:,}"


def _passage(edition: _Edition, rows: list[str], rng: random.Random) -> str:
    sign = rng.choice(UNITS[edition.kind])
    lines = [" ".join(edition.columns)]
    if edition.kind == "report" and rng.random() < 0.5:
        lines[0] = f"({rng.choice(('In millions', 'Unaudited', 'In thousands'))}) {lines[0]}"
    change = edition.kind == "report" and rng.random() < 0.3
    for row in rows:
        values = [_amount(sign, rng), _amount(sign, rng)]
        if change:
            values.append(f"{rng.randint(1, 40)} %")
        lines.append(f"{row} {' '.join(values)}")
    return f"{_head(edition, rng)}\n{' '.join(lines)}"


def _prose(edition: _Edition, rows: list[str], rng: random.Random) -> str:
    now, before = edition.columns
    sentences = []
    for row in rows[:7]:
        way = rng.choice(("increased", "decreased"))
        sentences.append(
            f"{row} {way} {rng.randint(1, 40)}% to ${rng.randint(100, 9999):,} million in {now} "
            f"compared to {before}, primarily due to {rng.choice(CAUSES)}."
        )
    return f"{_head(edition, rng)}\n{' '.join(sentences)}"


def _risks(edition: _Edition, rows: list[str], rng: random.Random) -> str:
    """The right document, and words about the rows without a figure."""
    sentences = [
        text.format(row=row[0].lower() + row[1:]) for row in rows for text in rng.sample(RISKS, 3)
    ]
    rng.shuffle(sentences)
    heading = rng.choice(("Risk factors", "Critical estimates", "Forward-looking statements"))
    return f"{edition.file} › {heading}\n{' '.join(sentences)}"


def _head(edition: _Edition, rng: random.Random) -> str:
    return f"{edition.file} › {rng.choice(HEADINGS[edition.kind])}"


def _question(rows: list[str], edition: _Edition, rng: random.Random) -> str:
    asked = [row if rng.random() < 0.3 else row[0].lower() + row[1:] for row in rows]
    row, second = asked
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
         f"{name} {row} {when}", f"By how much did the {row} of {name} change in {when}?",
         f"How did {name}'s {row} compare to its {second} in {when}?",
         f"What do {name}'s results for {when} say about {row}?",
         f"How did {row} of {name} develop in {when} and why?")
    )  # fmt: skip
