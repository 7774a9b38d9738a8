"""How values are packed into columns: status and origin codes, actors, distinct terms, log records."""

from __future__ import annotations

import hashlib
import json
import zlib
from functools import lru_cache
from typing import Final

from hydramind_domain.model import Actor, Origin, Status

STATUSES: Final = (Status.ACTIVE, Status.CONTRADICTED, Status.SUPERSEDED, Status.FORGOTTEN, Status.PURGED)
"""A status's code is its place here. Codes below 2 are current, below 3 can be recalled."""

STATUS_CODE: Final = {status: code for code, status in enumerate(STATUSES)}
CURRENT_BELOW: Final = 2
ORIGINS: Final = (Origin.EXPLICIT, Origin.EXTRACTED, Origin.INHERITED)
ORIGIN_CODE: Final = {origin: code for code, origin in enumerate(ORIGINS)}

BLOCK: Final = 1_024
"""Memories of a scope in one block of postings. Measured: docs/dev/store.md."""

MAX_TERM_ID: Final = (1 << 28) - 1
_DEFLATE_ABOVE: Final = 1_024
_DEFLATED: Final = b"\x00z"


def block_of(ordinal: int) -> int:
    """Block of the memory with this 1-based position in its scope."""
    return (ordinal - 1) // BLOCK


def term_bytes(term_id: int) -> bytes:
    """Four bytes of seven bits; only the first has its high bit set, so that a match in a row of them is never misaligned."""
    return bytes((0x80 | term_id >> 21, term_id >> 14 & 0x7F, term_id >> 7 & 0x7F, term_id & 0x7F))


def term_ids(packed: bytes) -> list[int]:
    """The ids again."""
    return [(packed[i] & 0x7F) << 21 | packed[i + 1] << 14 | packed[i + 2] << 7 | packed[i + 3] for i in range(0, len(packed), 4)]


@lru_cache(maxsize=65_536)
def entity_id(scope: str, norm: str) -> int:
    """63-bit id from scope and normal form, so that equal names never bridge scopes and a replay gives the same ids."""
    digest = hashlib.blake2b(f"{scope}\0{norm}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


@lru_cache(maxsize=1_024)
def actor_text(actor: Actor) -> str:
    """An actor as a column."""
    return json.dumps([actor.client_name, actor.client_version, actor.pid, actor.session], ensure_ascii=False)


@lru_cache(maxsize=1_024)
def actor_of(text: str) -> Actor:
    """The actor again."""
    return Actor(*json.loads(text))


def pack_record(data: bytes) -> bytes:
    """A log record, deflated when that is worth it."""
    if len(data) <= _DEFLATE_ABOVE:
        return data
    return _DEFLATED + zlib.compress(data, 1)


def unpack_record(data: bytes) -> bytes:
    """The log record again."""
    return zlib.decompress(data[len(_DEFLATED) :]) if data.startswith(_DEFLATED) else data


def project_name(root: str, wanted: str, *, taken: bool) -> str:
    """Scope of a project folder: its basename, told apart by six hex digits when another folder has that (semantics: Scope)."""
    return f"{wanted}-{hashlib.blake2b(root.encode(), digest_size=3).hexdigest()}" if taken else wanted
