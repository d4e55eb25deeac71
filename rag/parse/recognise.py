"""Picture of a page -> its lines of text with the place of every word, by RapidOCR's PP-OCRv6.

The models come with the package `rapidocr`; nothing is downloaded. Detection finds quadrilaterals,
the direction of the page is what most of them say, and recognition reads each of them; where a
character stands follows from the column of the recogniser's output that gave it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rag.parse.scripts import is_cjk, is_latin

_THREADS = 4
"""At most: more gain little on models of this size, and each takes memory, which is limited."""
_LEAST_SCORE = 0.5
"""Mean confidence of a line's characters; below it, lines are textures and drawings."""
_BATCH_WIDTH = 4800
"""Pixels of line, 48 high, that are recognised at once: bounds the memory for the scores of its
18,710 characters to about 50 MB."""
_TRIED = 5
"""Lines that are read both ways before a page is taken to be upside down."""
_FEW = 0.05
"""Share of characters that are no letters of an alphabet, up to which they are misread icons."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Quad:
    """Corners in pixels, in the order top left, top right, bottom right, bottom left as read."""

    corners: tuple[Point, Point, Point, Point]

    def slice(self, start: float, end: float) -> Quad:
        """The part between two shares of its length, 0 to 1."""
        a, b, c, d = self.corners
        return Quad((_between(a, b, start), _between(a, b, end), _between(d, c, end),
                     _between(d, c, start)))  # fmt: skip


@dataclass(frozen=True, slots=True)
class SeenWord:
    text: str
    quad: Quad


@dataclass(frozen=True, slots=True)
class SeenLine:
    words: tuple[SeenWord, ...]
    quad: Quad
    turn: int
    """Quarter turns, clockwise, of its writing direction."""
    score: float
    """Mean confidence, 0 to 1."""


class Recogniser:
    """Loads its models once (half a second). Not thread-safe."""

    def __init__(self, threads: int | None = None) -> None:
        import onnxruntime
        import rapidocr

        onnxruntime.disable_telemetry_events()
        models = Path(rapidocr.__file__).parent / "models"
        threads = threads or min(_THREADS, os.cpu_count() or 1)
        # Named one by one, because a model that is not named is downloaded where it is missing.
        engine = rapidocr.RapidOCR(
            params={
                "Global.log_level": "error",
                "EngineConfig.onnxruntime.intra_op_num_threads": threads,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                "Det.model_path": str(models / "PP-OCRv6_det_small.onnx"),
                "Cls.model_path": str(models / "ch_ppocr_mobile_v2.0_cls_mobile.onnx"),
                "Rec.model_path": str(models / "PP-OCRv6_rec_small.onnx"),
            }
        )
        self._detect = engine._load_det_model()
        self._classify = engine._load_cls_model()
        self._recognise = engine._load_rec_model()
        self._crop = engine.crop_text_regions
        self._characters: list[str] = self._recognise.postprocess_op.character
        self._latin = np.array(
            [i for i, c in enumerate(self._characters) if i == 0 or is_latin(c)], dtype=np.int64
        )

    def read(self, image: np.ndarray, alphabet_only: bool | None = None) -> list[SeenLine]:
        """Lines from top to bottom. `image`: (height, width, 3), blue first.

        `alphabet_only`: leave out Chinese and Japanese characters; None does so for a page that
        has hardly any, as they are what icons and bullets are mistaken for.
        """
        boxes = self._detect(image).boxes
        if boxes is None or not len(boxes):
            return []
        crops = self._crop(image, boxes)
        tall = [_is_tall(box) for box in boxes]
        crops, turns = self._turned(crops, tall)
        lines: list[tuple[_Text, _Text]] = [(_NOTHING, _NOTHING)] * len(crops)
        for part, scores in self._scores(crops):
            for i, columns in zip(part, scores, strict=True):
                share = crops[i].shape[1] / crops[i].shape[0] * 48 / self._width(crops, part)
                used = max(1, round(len(columns) * min(1.0, share)))
                lines[i] = (
                    _text(columns[:used], self._characters, None),
                    _text(columns[:used], self._characters, self._latin),
                )
        if alphabet_only is None:
            read = "".join(c for text, _ in lines for c in text.characters)
            alphabet_only = sum(map(is_cjk, read)) <= _FEW * len(read)
        found = []
        for box, turn, both in zip(boxes, turns, lines, strict=True):
            text = both[alphabet_only]
            quad = _quad(box, turn)
            words = tuple(_words(text, quad))
            if words and text.score >= _LEAST_SCORE:
                found.append(SeenLine(words, quad, turn, text.score))
        return found

    def _turned(
        self, crops: list[np.ndarray], tall: Sequence[bool]
    ) -> tuple[list[np.ndarray], list[int]]:
        """Crops with their letters upright, and the quarter turns that this took.

        All tall ones, and all others, are turned alike: single lines are often misjudged.
        """
        labels = self._classify(crops).cls_res
        turned = list(crops)
        turns = [1 if is_tall else 0 for is_tall in tall]
        for kind in (False, True):
            own = [i for i, is_tall in enumerate(tall) if is_tall == kind]
            lengths = {i: crops[i].shape[1] / crops[i].shape[0] for i in own}
            votes = sum(
                labels[i][1] * lengths[i] * (1 if labels[i][0] == "180" else -1) for i in own
            )
            longest = sorted(own, key=lambda i: -lengths[i])[:_TRIED]
            if votes > 0 and self._is_upside_down([crops[i] for i in longest]):
                for i in own:
                    turned[i] = crops[i][::-1, ::-1]
                    turns[i] += 2
        return turned, turns

    def _is_upside_down(self, crops: Sequence[np.ndarray]) -> bool:
        """Whether they can be read more surely the other way round."""
        sure = [0.0, 0.0]
        for way, images in enumerate((crops, [crop[::-1, ::-1] for crop in crops])):
            for _, scores in self._scores(images):
                sure[way] += sum(_text(s, self._characters, None).score for s in scores)
        return sure[1] > sure[0]

    def _scores(self, crops: Sequence[np.ndarray]) -> Iterator[tuple[list[int], np.ndarray]]:
        """Indices of crops of like width, and (crops, columns, characters)."""
        order = sorted(range(len(crops)), key=lambda i: crops[i].shape[1] / crops[i].shape[0])
        part: list[int] = []
        for i in order:
            if part and self._width(crops, [*part, i]) * (len(part) + 1) > _BATCH_WIDTH:
                yield part, self._run(crops, part)
                part = []
            part.append(i)
        if part:
            yield part, self._run(crops, part)

    def _width(self, crops: Sequence[np.ndarray], part: Sequence[int]) -> float:
        """Pixels of the widest, when all are 48 high; the model needs 320."""
        widest: float = max(crops[i].shape[1] / crops[i].shape[0] for i in part)
        return max(320.0, 48 * widest)

    def _run(self, crops: Sequence[np.ndarray], part: Sequence[int]) -> np.ndarray:
        ratio = self._width(crops, part) / 48
        batch = [
            self._recognise.resize_norm_img(np.ascontiguousarray(crops[i]), ratio) for i in part
        ]
        scores: np.ndarray = self._recognise.session(np.stack(batch).astype(np.float32))
        return scores


@dataclass(frozen=True, slots=True)
class _Text:
    characters: str
    places: tuple[float, ...]
    """The middle of each, as a share of the line's length."""
    score: float


_NOTHING = _Text("", (), 0.0)


def _text(scores: np.ndarray, characters: Sequence[str], allowed: np.ndarray | None) -> _Text:
    """Greedy CTC: the best character of each column, repetitions and blanks dropped."""
    chosen = scores if allowed is None else scores[:, allowed]
    best = chosen.argmax(axis=1)
    sure = chosen.max(axis=1)
    if allowed is not None:
        best = allowed[best]
    kept = [i for i, c in enumerate(best) if c and (i == 0 or c != best[i - 1])]
    if not kept:
        return _NOTHING
    return _Text(
        "".join(characters[best[i]] for i in kept),
        tuple((i + 0.5) / len(scores) for i in kept),
        float(sure[kept].mean()),
    )


def _words(text: _Text, quad: Quad) -> Iterator[SeenWord]:
    half = 0.5 / max(1, len(text.characters))
    start = 0
    for end in range(len(text.characters) + 1):
        if end == len(text.characters) or text.characters[end].isspace():
            if end > start:
                first, last = text.places[start] - half, text.places[end - 1] + half
                part = quad.slice(max(0.0, first), min(1.0, last))
                yield SeenWord(text.characters[start:end], part)
            start = end + 1


def _quad(box: np.ndarray, turn: int) -> Quad:
    """The detector starts at the corner that is displayed top left."""
    corners: list[Point] = [(float(x), float(y)) for x, y in box]
    start = (0, 1, 2, 3)[turn]
    a, b, c, d = (corners[(start + i) % 4] for i in range(4))
    return Quad((a, b, c, d))


def _is_tall(box: np.ndarray) -> bool:
    """As the cropping decides which ones to turn by a quarter, counter-clockwise."""
    a, b, c, d = box
    width = int(max(np.linalg.norm(a - b), np.linalg.norm(c - d)))
    height = int(max(np.linalg.norm(a - d), np.linalg.norm(b - c)))
    return height / max(1, width) >= 1.5


def _between(a: Point, b: Point, share: float) -> Point:
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share
