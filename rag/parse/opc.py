"""How the parts of an Office file (Open Packaging Conventions) refer to each other."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from urllib.parse import unquote

from rag.parse.archive import Archive, attribute


def relationships(archive: Archive, part: str) -> dict[str, tuple[str, str]]:
    """Id -> (kind, member) of what an Office part refers to; external targets are left out.

    `kind` is the last word of the relationship type: "header", "image", "footnotes".
    """
    folder, file = posixpath.split(part)
    rels = posixpath.join(folder, "_rels", file + ".rels")
    if rels not in archive:
        return {}
    found = {}
    for relation in archive.xml(rels):
        target = unquote(attribute(relation, "Target"))
        if attribute(relation, "TargetMode") == "External" or not target:
            continue
        kind = attribute(relation, "Type").rpartition("/")[2]
        member = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        found[attribute(relation, "Id")] = (kind, member)
    return found


def main_part(archive: Archive) -> tuple[str, str]:
    """Member and content type of an Office file's document, workbook or presentation."""
    relations = relationships(archive, "").values()
    part = next((member for kind, member in relations if kind == "officeDocument"), "")
    by_suffix = ""
    for entry in archive.xml("[Content_Types].xml"):
        if attribute(entry, "PartName").lstrip("/").lower() == part.lower():
            return part, attribute(entry, "ContentType")
        if part.lower().endswith("." + attribute(entry, "Extension").lower()):
            by_suffix = attribute(entry, "ContentType")
    return part, by_suffix


_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")


def transitional(archive: Archive) -> io.BytesIO:
    """The file as python-pptx and openpyxl know it: Strict namespaces replaced by the usual ones.

    Without that, they find no slides and no sheets in a file saved as "Strict Open XML". A file
    in memory, because openpyxl refuses a path that does not end in .xlsx.
    """
    part = main_part(archive)[0]
    if not _STRICT.search(archive.read(part)):
        return io.BytesIO(archive.path.read_bytes())
    copy = io.BytesIO()
    with zipfile.ZipFile(copy, "w") as target:
        for member in archive.members:
            data = archive.read(member)
            if member.lower().endswith((".xml", ".rels")):
                data = _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", data)
            target.writestr(member, data)
    copy.seek(0)
    return copy
