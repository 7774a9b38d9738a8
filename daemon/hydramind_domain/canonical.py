"""Canonical forms: what makes two claims, or two requests, the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from hydramind_domain.model import Instant

REQUEST_FORM = 1
"""Version of the canonical form of requests; part of every hash."""

Scalar = str | int | bool | None


def claim_hash(content_norm: str, explicit_norms: Iterable[str], parent_ids: Iterable[str], valid_from: Instant | None) -> bytes:
    """Hash of normalised content, explicit entities, parents and given valid_from (semantics: the same claim again)."""
    form = [content_norm, sorted(set(explicit_norms)), sorted(set(parent_ids)), valid_from]
    return hashlib.blake2b(json.dumps(form, ensure_ascii=True).encode(), digest_size=16).digest()


def request_hash(method: str, fields: Mapping[str, Scalar | Sequence[str]]) -> bytes:
    """Hash of a request after scope resolution; empty and absent fields are one (semantics: Idempotency)."""
    given = {name: list(v) if isinstance(v, (list, tuple)) else v for name, v in fields.items() if v not in (None, "", (), [])}
    form = json.dumps([REQUEST_FORM, method, given], ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(form.encode()).digest()
