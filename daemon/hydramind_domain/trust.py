"""Trust as a function of the set of standing drops (semantics: Trust). Independent of order, safe to replay."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence

from hydramind_domain.model import Drop, TrustRules

FULL_TRUST = 1.0
_DIGITS = 6


def trust_of(amounts: Iterable[float], floor: float) -> float:
    """max(floor, 1 − Σ amounts), rounded to six digits; `math.fsum` makes the sum independent of order."""
    return round(max(floor, FULL_TRUST - math.fsum(amounts)), _DIGITS)


def drop_amount(hop: int, rules: TrustRules) -> float:
    """Size of a drop: the contradiction's own at hop 0, `hop_drop` × distance for a dependent."""
    return round(rules.contradiction_drop if hop == 0 else rules.hop_drop * hop, _DIGITS)


def drop_id(cause: int, memory: int, hop: int) -> int:
    """Deterministic 63-bit id of the one drop that a cause can put on a memory at a hop."""
    digest = hashlib.blake2b(f"{cause}|{memory}|{hop}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def is_contradicted(drops: Sequence[Drop]) -> bool:
    """Whether one of the standing drops is a contradiction of the memory itself."""
    return any(drop.hop == 0 for drop in drops)
