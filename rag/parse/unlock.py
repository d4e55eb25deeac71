"""An encrypted PDF and its password -> the same file without encryption, in its place."""

from __future__ import annotations

from pathlib import Path

from rag.errors import FileError
from rag.parse import detect


def unlock(path: Path, name: str, password: str) -> None:
    """Nothing happens to a file that needs no password, or is no PDF, or is damaged.

    Raises FileError `wrong_password`. The file is replaced in one step, so that it is whole at
    any moment.
    """
    if detect.detect(path, name) != detect.PDF:
        return
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    plain = path.with_suffix(".plain")
    try:
        with pymupdf.open(path, filetype="pdf") as file:
            if not file.needs_pass:
                return
            if not file.authenticate(password):
                raise FileError(
                    "wrong_password", f"The password does not open {name!r}. Try another one."
                )
            file.save(plain, encryption=pymupdf.PDF_ENCRYPT_NONE)  # type: ignore[attr-defined]
        plain.replace(path)
    except FileError:
        raise
    except Exception as error:  # RuntimeError, ValueError and a dozen of MuPDF's own
        raise FileError(
            "corrupt", f"{name!r} was opened by its password, but is damaged: {error}."
        ) from error
    finally:
        plain.unlink(missing_ok=True)
