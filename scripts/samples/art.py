"""The drawings: covers, the parts of the bike, the river’s course, the phosphorus chart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from samples.canvas import BLACK, HEIGHT, WHITE, WIDTH, Canvas, Colour, Point, rgb

GREEN, PALE_GREEN = rgb("#2f5d50"), rgb("#e9f1ee")
BLUE, PALE_BLUE = rgb("#1d4e79"), rgb("#e8eff6")
RUST = rgb("#c75b12")
GREY, STEEL = rgb("#8a8f94"), rgb("#3b4045")


def manual_cover(canvas: Canvas, x: float, y: float, width: float) -> None:
    canvas.rect(0, 0, WIDTH, 500, PALE_GREEN)
    canvas.rect(0, 500, WIDTH, 6, GREEN)
    canvas.text(54, 84, "FENNIMORE CYCLE WORKS", "hebo", 11, GREEN)
    _bike(canvas, 66, 190, 1.85)
    canvas.text(54, 580, "Dunnock 60", "hebo", 46, GREEN)
    canvas.text(54, 610, "Cargo e-bike with front box", "helv", 18, STEEL)
    canvas.text(54, 690, "Owner’s manual", "hebo", 22, BLACK)
    canvas.text(54, 712, "Model year 2025 · Edition 3 · English", "helv", 11, STEEL)
    canvas.text(54, 788, "Original instructions. Keep them with the bike.", "heit", 9.5, STEEL)


def bike_parts(canvas: Canvas, x: float, y: float, width: float) -> None:
    scale = 1.62
    left, top = x + (width - 252 * scale) / 2, y + 22
    _bike(canvas, left, top, scale)
    callouts: Sequence[tuple[Point, Point]] = (
        ((45, 55), (18, 36)),
        ((96, 46), (96, 20)),
        ((84, 101), (70, 125)),
        ((166, 9), (150, -6)),
        ((174, 13), (196, 2)),
        ((207, 27), (226, 14)),
        ((195, 66), (214, 44)),
        ((240, 49), (258, 34)),
        ((176, 92), (168, 125)),
        ((198, 93), (196, 125)),
        ((116, 110), (128, 125)),
        ((26, 90), (4, 112)),
    )
    for number, ((tip_x, tip_y), (disc_x, disc_y)) in enumerate(callouts, start=1):
        tip = (left + tip_x * scale, top + tip_y * scale)
        disc = (left + disc_x * scale, top + disc_y * scale)
        canvas.line([disc, tip], RUST, 0.9)
        canvas.circle(*tip, 1.8, fill=RUST)
        canvas.circle(*disc, 8.5, fill=RUST)
        canvas.text(disc[0], disc[1] + 3.2, str(number), "hebo", 9, WHITE, align="center")


def _bike(canvas: Canvas, x: float, y: float, scale: float) -> None:
    """Side view, front to the left; drawn in centimetres, 252 long and 116 high."""

    def at(*points: Point) -> list[Point]:
        return [(x + px * scale, y + py * scale) for px, py in points]

    def tube(*points: Point, colour: Colour = GREEN, width: float = 3.6) -> None:
        canvas.line(at(*points), colour, width * scale)

    front, rear, cranks = (26.0, 90.0), (219.0, 83.0), (176.0, 92.0)
    tube((0, 117), (252, 117), colour=GREY, width=0.5)
    for (hub_x, hub_y), radius in ((front, 24.5), (rear, 31.5)):
        (centre,) = at((hub_x, hub_y))
        for spoke in range(18):
            angle = spoke * math.pi / 9
            end = (hub_x + radius * math.cos(angle), hub_y + radius * math.sin(angle))
            tube((hub_x, hub_y), end, colour=GREY, width=0.35)
        canvas.circle(*centre, radius * scale, stroke=STEEL, width=4.2 * scale)
        canvas.circle(*centre, 9 * scale, stroke=GREY, width=1.1 * scale)
        canvas.circle(*centre, 2.6 * scale, fill=STEEL)
    tube((192, 48), rear, width=2.2)
    tube(cranks, rear, width=2.6)
    tube((197, 50), (248, 50), colour=STEEL, width=1.8)
    tube((238, 50), rear, colour=STEEL, width=1.4)
    tube((30, 94), (84, 101), (156, 99), colour=GREY, width=1.2)
    tube((118, 97), (112, 116), colour=STEEL, width=2.4)
    tube((106, 116), (118, 116), colour=STEEL, width=2.0)
    tube(front, (38, 62), (50, 97), (150, 97), (160, 54))
    tube((160, 58), cranks)
    tube((160, 58), (190, 54), width=3.0)
    tube(cranks, (198, 34), width=3.6)
    canvas.polygon(at((190, 84), (198, 86), (206, 54), (198, 52)), STEEL)
    canvas.polygon(at((46, 40), (152, 38), (142, 93), (58, 93)), rgb("#c9a26b"))
    for plank in (51, 62, 73, 84):
        share = (plank - 40) / 53
        tube((46 + 12 * share, plank), (152 - 10 * share, plank), colour=rgb("#a8824d"), width=0.5)
    tube((45, 39.5), (153, 37.5), colour=GREEN, width=2.6)
    canvas.circle(*at((45, 55))[0], 3.6 * scale, fill=rgb("#f2c14e"), stroke=STEEL, width=0.8)
    tube((160, 58), (167, 14), colour=STEEL, width=2.6)
    tube((162, 9), (182, 15), colour=STEEL, width=2.4)
    canvas.polygon(at((161, 3), (170, 5), (169, 10), (160, 8)), STEEL)
    canvas.polygon(at((186, 27), (214, 24), (214, 31), (200, 33)), STEEL)
    tube((176, 87), (219, 80), colour=STEEL, width=0.8)
    tube((176, 97), (219, 86), colour=STEEL, width=0.8)
    canvas.circle(*at(cranks)[0], 8 * scale, fill=STEEL, stroke=GREY, width=1.0)
    tube(cranks, (186, 105), colour=GREY, width=1.8)
    tube((181, 106), (192, 105), colour=STEEL, width=2.2)


def report_cover(canvas: Canvas, x: float, y: float, width: float) -> None:
    canvas.rect(0, 0, WIDTH, HEIGHT, BLUE)
    for row, colour in enumerate(("#27608f", "#3474a4", "#4589b8", "#5c9fc9", "#79b4d7")):
        base = 520 + row * 62
        wave = [
            (px, base + 20 * math.sin(px / 78 + row * 1.3) + 7 * math.sin(px / 31 + row))
            for px in range(0, int(WIDTH) + 6, 5)
        ]
        canvas.polygon([*wave, (WIDTH + 5, HEIGHT), (0, HEIGHT)], rgb(colour))
    canvas.text(60, 96, "SORREL VALLEY RIVERS TRUST", "hebo", 11, WHITE)
    canvas.line([(60, 110), (160, 110)], WHITE, 1.5)
    canvas.text(60, 210, "River Sorrel", "tibo", 50, WHITE)
    canvas.text(60, 252, "Water Quality Report", "tiro", 34, WHITE)
    canvas.text(60, 330, "2024", "tibo", 64, rgb("#9fd0ea"))
    canvas.text(60, 372, "Eight sites, six years, 46 kilometres of river", "tiit", 15, WHITE)
    canvas.text(60, 802, "Published in March 2025 · Report No. 9", "helv", 10, WHITE)


def river_course(canvas: Canvas, x: float, y: float, width: float) -> None:
    """The sites by their distance from the source, as on a bus map."""
    canvas.rect(x, y, width, 128, PALE_BLUE)
    start, scale, level = x + 26, (width - 62) / 46.4, y + 60
    water = rgb("#3474a4")

    def at(km: float) -> float:
        return start + km * scale

    canvas.rect(at(20.3), level - 22, 4.8 * scale, 44, rgb("#d9d2c5"))
    canvas.text(at(22.7), level - 38, "Sorrelbridge", "heit", 7.5, STEEL, align="center")
    canvas.line([(at(24.1), level), (at(28), y + 106), (at(29.5), y + 108)], rgb("#5c9fc9"), 3)
    canvas.line([(at(0), level), (at(46.4) + 20, level)], water, 5)
    tip = at(46.4) + 31
    canvas.polygon([(tip - 11, level - 8), (tip - 11, level + 8), (tip, level)], water)
    canvas.rect(at(28.2) - 5, level - 22, 10, 10, GREY)
    canvas.line([(at(28.2), level - 12), (at(28.2), level)], GREY, 1)
    canvas.text(at(28.2), level - 27, "treatment works", "heit", 7.5, STEEL, align="center")
    sites = (
        ("S1", "Coldspring", 1.2, -24),
        ("S2", "Ketter Mill", 8.6, 29),
        ("S3", "Aldery Ford", 15.3, -24),
        ("S4", "Town Weir", 22.7, 33),
        ("S6", "Gaunt’s Lock", 31.5, 29),
        ("S7", "Lower Staithe", 39.8, -24),
        ("S8", "Penhallow Sluice", 44.6, 29),
    )
    for code, name, km, drop in sites:
        dot = at(46.4) if code == "S8" else at(km)
        canvas.circle(dot, level, 6, fill=WHITE, stroke=BLUE, width=2)
        beside = level + (19 if drop > 0 else -14)
        canvas.text(dot, beside, code, "hebo", 8.5, BLUE, align="center")
        canvas.text(at(km), level + drop, name, "helv", 7.5, align="center")
    canvas.circle(at(28), y + 106, 6, fill=WHITE, stroke=BLUE, width=2)
    end = canvas.text(at(28) + 18, y + 110, "S5", "hebo", 8.5, BLUE)
    canvas.text(end + 4, y + 110, "Tansy Brook", "helv", 7.5)
    canvas.text(x + 8, y + 14, "Source", "heit", 7.5, STEEL)
    canvas.text(x + width - 8, y + 14, "Sea", "heit", 7.5, STEEL, align="right")


def phosphorus_chart(canvas: Canvas, x: float, y: float, width: float) -> None:
    years = range(2019, 2025)
    lines: Mapping[str, tuple[Colour, Sequence[int]]] = {
        "S6 Gaunt’s Lock": (RUST, (187, 192, 181, 163, 104, 88)),
        "S7 Lower Staithe": (BLUE, (142, 148, 139, 128, 91, 79)),
        "S8 Penhallow Sluice": (rgb("#4589b8"), (131, 135, 127, 119, 86, 74)),
        "S3 Aldery Ford": (GREEN, (34, 36, 33, 35, 32, 31)),
    }
    left, right, top, bottom = x + 32, x + width - 112, y + 12, y + 158

    def at(year: int, value: float) -> Point:
        return (
            left + 16 + (year - 2019) * (right - left - 32) / 5,
            bottom - value * (bottom - top) / 200,
        )

    for value in range(0, 201, 50):
        level = at(2019, value)[1]
        canvas.line([(left, level), (right, level)], rgb("#cfd6dd"), 0.6)
        canvas.text(left - 6, level + 2.8, str(value), "helv", 8, STEEL, align="right")
    for year in years:
        canvas.text(at(year, 0)[0], bottom + 13, str(year), "helv", 8, STEEL, align="center")
    stage = at(2022, 0)[0] + 0.29 * (at(2023, 0)[0] - at(2022, 0)[0])
    canvas.line([(stage, top), (stage, bottom)], GREY, 0.9, dash=(3, 2))
    canvas.text(stage + 4, top + 8, "new stage at the works", "heit", 7.5, STEEL)
    for name, (colour, values) in lines.items():
        points = [at(year, value) for year, value in zip(years, values, strict=True)]
        canvas.line(points, colour, 1.8)
        for point in points:
            canvas.circle(*point, 2.6, fill=colour)
        drop = {"S6": -4.0, "S7": 2.5, "S8": 9.0, "S3": 2.5}[name[:2]]
        canvas.text(points[-1][0] + 8, points[-1][1] + drop, name, "hebo", 8, colour)
