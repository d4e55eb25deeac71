"""E-mails and web archives (.eml, .mht) -> sections: subject, who, when, then the message."""

from __future__ import annotations

import email
import email.policy
from email.message import EmailMessage
from pathlib import Path

from rag.parse import html
from rag.parse.charset import decode
from rag.parse.sections import Block, Reading, compose, sections
from rag.types import Warning

_SHOWN = ("From", "To", "Cc", "Date")


def read(path: Path, name: str) -> Reading:
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    warnings: tuple[Warning, ...] = ()
    blocks = [Block(str(message["Subject"] or ""), 1)]
    blocks += [
        Block(f"{field}: {message[field]}", tight=True) for field in _SHOWN if message[field]
    ]
    body = message.get_body(("plain", "html"))
    if isinstance(body, EmailMessage):
        data = body.get_payload(decode=True)
        content = data if isinstance(data, bytes) else b""
        text, warnings = decode(content, body.get_content_charset() or "")
        if body.get_content_type() == "text/html":
            converter = html.convert(text)
            blocks += converter.blocks
            warnings += html.hidden_warning(converter.hidden)
        else:
            blocks += [Block(paragraph) for paragraph in text.split("\n\n")]
    attached = [part.get_filename() or "without a name" for part in message.iter_attachments()]
    if attached:
        warnings += (
            Warning("attachments", f"Attachments left out: {', '.join(attached)}. Add them alone."),
        )
    joined, marks = compose(blocks)
    return Reading("section", sections(joined, marks), warnings)
