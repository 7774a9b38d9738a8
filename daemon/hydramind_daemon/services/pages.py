"""Opaque page tokens: what a list goes on after, bound to the list that gave them."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence

from hydramind_domain.errors import InvalidArgument


def token(kind: str, *position: int | str) -> str:
    """A token of a list."""
    data = json.dumps([kind, *position], ensure_ascii=True, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def position(text: str, kind: str, types: Sequence[type]) -> tuple[int | str, ...] | None:
    """Position in a token; None for the first page. Raises InvalidArgument for a token of another list or of nobody."""
    if not text:
        return None
    try:
        data = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, binascii.Error):
        data = None
    if not isinstance(data, list) or data[:1] != [kind] or [type(part) for part in data[1:]] != list(types):
        raise InvalidArgument.of("page_token", "is not a token of this list; leave it empty for the first page")
    return tuple(data[1:])
