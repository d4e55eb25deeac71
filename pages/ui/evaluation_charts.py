"""Charts of an evaluation. Altair is imported by the first chart: it takes half a second. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pages.ui.evaluation_rows import Rows

if TYPE_CHECKING:
    import altair as alt

_ROW = 34
"""Pixels of a group's row."""
_BARS = 24
_COLOURS = ("#3d8b84", "#d08a2e", "#8d7fd1")
"""Told apart in both themes, and by people who do not see red and green."""
_LINE = "#8a9490"
"""For rules, which Streamlit's theme leaves black."""


def groups(
    rows: Rows, name: str, *, percent: bool = True, domain: tuple[float, float] = (0, 1)
) -> alt.LayerChart | alt.FacetChart:
    """A value with its interval for each group, the groups in the order of the rows."""
    import altair as alt

    form = ".0%" if percent else ".2f"
    scale = alt.Scale(domain=domain)
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y("Group:N", sort=None, title=None, axis=alt.Axis(labelLimit=240)),
        tooltip=[
            alt.Tooltip("Group:N"),
            alt.Tooltip("Value:Q", title=name, format=form),
            alt.Tooltip("Low:Q", title="At least", format=form),
            alt.Tooltip("High:Q", title="At most", format=form),
        ],
    )
    axis = alt.Axis(format=form, tickCount=6)
    line = base.mark_rule(strokeWidth=3, color=_LINE).encode(
        x=alt.X("Low:Q", title=name, scale=scale, axis=axis), x2="High:Q"
    )
    point = base.mark_point(filled=True, size=110, opacity=1, color=_COLOURS[0]).encode(
        x=alt.X("Value:Q")
    )
    return alt.layer(line, point).properties(height=alt.Step(_ROW))


def differences(rows: Rows) -> alt.LayerChart | alt.FacetChart:
    """`groups` of differences, with a line where nothing has changed."""
    import altair as alt

    reach = max(0.05, *(1.1 * abs(row[end]) for row in rows for end in ("Low", "High")))
    zero = (
        alt.Chart(alt.InlineData([{"x": 0}]))
        .mark_rule(strokeDash=[4, 4], color=_LINE)
        .encode(x="x:Q")
    )
    drawn = groups(rows, "Difference", domain=(-reach, reach))
    return alt.layer(zero, drawn).properties(height=alt.Step(_ROW))


def history(rows: Rows, name: str, *, percent: bool = True) -> alt.LayerChart | alt.FacetChart:
    """One metric over runs, the oldest first; rows hold Run, Mode, Value, Low, High."""
    import altair as alt

    form = ".0%" if percent else ".2f"
    base = alt.Chart(alt.InlineData(rows)).encode(
        x=alt.X("Run:N", sort=None, title=None, axis=alt.Axis(labelAngle=-30, labelLimit=200)),
        color=alt.Color(
            "Mode:N",
            title=None,
            scale=alt.Scale(range=list(_COLOURS)),
            legend=alt.Legend(orient="top"),
        ),
        tooltip=[
            alt.Tooltip("Run:N"),
            alt.Tooltip("Value:Q", title=name, format=form),
            alt.Tooltip("Low:Q", title="At least", format=form),
            alt.Tooltip("High:Q", title="At most", format=form),
        ],
    )
    scale = alt.Scale(domain=(0, 1)) if percent else alt.Scale(zero=True)
    value = alt.Y("Value:Q", title=name, scale=scale, axis=alt.Axis(format=form))
    line = base.mark_line(opacity=0.5).encode(y=value)
    bars = base.mark_rule(strokeWidth=2, opacity=0.45).encode(y=alt.Y("Low:Q"), y2="High:Q")
    points = base.mark_point(filled=True, size=90, opacity=1).encode(y=value)
    return alt.layer(line, bars, points).properties(height=320)


def latency(rows: Rows, marks: Mapping[str, float]) -> alt.LayerChart | alt.FacetChart:
    """How many questions took how long; `marks` are named lines, such as p50, in milliseconds."""
    import altair as alt

    bars = (
        alt.Chart(alt.InlineData(rows))
        .mark_bar(color=_COLOURS[0], opacity=0.7)
        .encode(
            x=alt.X("ms:Q", bin=alt.Bin(maxbins=_BARS), title="Milliseconds for one question"),
            y=alt.Y("count():Q", title="Questions", axis=alt.Axis(tickMinStep=1)),
            tooltip=[
                alt.Tooltip("ms:Q", bin=alt.Bin(maxbins=_BARS), title="Milliseconds"),
                alt.Tooltip("count():Q", title="Questions"),
            ],
        )
    )
    lines: list[dict[str, Any]] = [
        {"Line": f"{name}: {ms:,.0f} ms", "at": ms} for name, ms in marks.items()
    ]
    rules = (
        alt.Chart(alt.InlineData(lines))
        .mark_rule(strokeDash=[5, 3], strokeWidth=2)
        .encode(
            x="at:Q",
            color=alt.Color(
                "Line:N",
                sort=None,
                title=None,
                scale=alt.Scale(range=list(_COLOURS[1:])),
                legend=alt.Legend(orient="top", labelLimit=320),
            ),
            tooltip=["Line:N"],
        )
    )
    return alt.layer(bars, rules).properties(height=280)
