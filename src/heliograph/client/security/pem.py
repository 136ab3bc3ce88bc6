"""Reads and writes PEM (RFC 7468), from files and from properties, where line breaks may be lost."""

from __future__ import annotations

import base64
import string

_BEGIN, _END, _DASHES = "-----BEGIN ", "-----END ", "-----"
_LABEL = frozenset(string.ascii_uppercase + string.digits + " ")
_LONGEST_LABEL = 64


def pem_blocks(text: str) -> list[tuple[str, str]]:
    """(label, block) of all blocks, with line breaks restored.

    In one pass: a block without an end is skipped at the next beginning.
    """
    found = []
    for part in text.split(_BEGIN)[1:]:
        label, dashes, _ = part[: _LONGEST_LABEL + len(_DASHES)].partition(_DASHES)
        if not dashes or not label or not _LABEL.issuperset(label):
            continue
        end = part.find(f"{_END}{label}{_DASHES}", len(label))
        if end >= 0:
            found.append((label, pem_block(label, part[len(label) + len(_DASHES) : end])))
    return found


def pem_block(label: str, body: str) -> str:
    body = body.encode("ascii", errors="replace").decode()  # OpenSSL reports that it is broken
    if ":" in body:  # headers of a traditional encrypted key; its line breaks matter
        return f"-----BEGIN {label}-----{body}-----END {label}-----\n"
    text = "".join(body.split())
    lines = "\n".join(text[at : at + 64] for at in range(0, len(text), 64))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n"


def pem_content(block: str) -> bytes:
    """What a block of `pem_blocks` holds. Raises ValueError."""
    body = block.partition(_DASHES)[2].partition(_DASHES)[2].partition(_DASHES)[0]
    return base64.b64decode("".join(body.split()), validate=True)
