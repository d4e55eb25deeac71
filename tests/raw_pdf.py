"""PDFs written object by object, for what no library would write."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

HELVETICA = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"


def write(path: Path, objects: list[bytes]) -> Path:
    """The first object is the catalog."""
    body, offsets = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    path.write_bytes(
        body
        + b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
        + b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (size, len(body))
    )
    return path


def stream(content: bytes) -> bytes:
    return b"<</Length %d>>stream\n%s\nendstream" % (len(content), content)


def page(
    path: Path,
    content: bytes,
    fonts: Mapping[str, bytes] | None = None,
    extra: list[bytes] | None = None,
) -> Path:
    """One page with the given content; font `F` is Helvetica. `extra` objects begin at 5."""
    named = {"F": HELVETICA, **(fonts or {})}
    entries = b"".join(b"/%s %s" % (name.encode(), font) for name, font in named.items())
    return write(
        path,
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
            b"/Resources<</Font<<%s>>>>>>" % entries,
            stream(content),
            *(extra or []),
        ],
    )


def to_unicode(mapping: Mapping[int, str]) -> bytes:
    """A ToUnicode map for one-byte codes, as a stream object."""
    lines = b"".join(
        b"<%02x> <%s>\n" % (code, text.encode("utf-16-be").hex().encode())
        for code, text in mapping.items()
    )
    return stream(
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n"
        b"1 begincodespacerange <00> <ff> endcodespacerange\n"
        b"%d beginbfchar\n%sendbfchar endcmap end end" % (len(mapping), lines)
    )
