"""Trust and conflict in words. One place, so that every front end says the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hydramind_domain.model import Drop, Instant, Status
from hydramind_domain.timeparse import iso

_PIECE = 80
_NAMED = 5

_STATUS = {
    Status.ACTIVE: "It is active.",
    Status.CONTRADICTED: "It is contradicted, still recalled, and ranks lower for it.",
    Status.SUPERSEDED: "It was superseded by a revision; its trust did not change by that.",
    Status.FORGOTTEN: "It was forgotten: it is out of recall, conflict checks and lists.",
    Status.PURGED: "Its content was erased for good.",
}


@dataclass(frozen=True, slots=True)
class NamedDrop:
    """A drop with the external id of its cause, and how its contradiction was reasoned (hop 0)."""

    drop: Drop
    cause_id: str
    reason: str
    withdrawn_reason: str = ""


def percent(trust: float) -> str:
    """Trust as people read it: two decimals."""
    return f"{trust:.2f}"


def _drop_words(named: NamedDrop) -> str:
    drop = named.drop
    when = iso(drop.at)
    amount = f"-{percent(drop.amount)}"
    if drop.hop == 0:
        why = f" ({named.reason})" if named.reason else ""
        return f"{amount} because {named.cause_id} contradicted it{why} on {when}"
    steps = "directly" if drop.hop == 1 else f"{drop.hop} steps away"
    return f"{amount} because it was derived, {steps}, from a memory that {named.cause_id} contradicted on {when}"


def trust_words(
    trust: float,
    status: Status,
    standing: Sequence[NamedDrop],
    withdrawn: Sequence[NamedDrop],
    floor: float,
    *,
    support: int = 1,
    spreading: bool = False,
) -> str:
    """Why a memory has the trust that it has."""
    if standing:
        parts = [_drop_words(named) for named in standing[:_NAMED]]
        more = f"; and {len(standing) - _NAMED} more drops" if len(standing) > _NAMED else ""
        text = f"Trust is {percent(trust)}: it started at 1.00, {'; '.join(parts)}{more}."
        if trust <= floor:
            text += f" It is at the floor of {percent(floor)}."
    else:
        text = f"Trust is {percent(trust)}: nothing stands against it."
    if withdrawn:
        causes = ", ".join(dict.fromkeys(named.cause_id for named in withdrawn[:_NAMED]))
        some = f"{len(withdrawn)} drops" if len(withdrawn) > 1 else "1 drop"
        text += f" {some} (by {causes}) {'were' if len(withdrawn) > 1 else 'was'} withdrawn."
    text += f" {_STATUS[status]}"
    if support > 1:
        text += f" The same claim was remembered {support} times; repetition does not raise trust."
    if spreading:
        text += " A cascade that may reach it is still spreading."
    return text


def _piece(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _PIECE else flat[: _PIECE - 1] + "…"


_CODES = {
    "negation": "one says {new}, the other says {old}: the one negates the other",
    "antonym": "{new} and {old} are opposites",
    "state_change": "{new} ends what {old} says",
    "converse": "{new} and {old} exclude each other",
    "correction": "{new} corrects {old}",
    "preference": "{new} and {old} are opposite preferences",
}
_PHRASES = {
    "negation": "one negates the other",
    "antonym": "opposite terms",
    "state_change": "a change of state",
    "converse": "converse statements",
    "correction": "a correction",
    "preference": "opposite preferences",
    "value_number": "different numbers for the same attribute",
    "value_date": "different dates for the same attribute",
    "value_version": "different versions of the same thing",
    "value_name": "different names in the same place",
}


def conflict_phrase(code: str) -> str:
    """The fixed phrase of a reason code; what is stored."""
    return _PHRASES.get(code, "they cannot both hold")


def conflict_words(code: str, new_piece: str, old_piece: str) -> str:
    """Why two claims conflict, with the two pieces of text; rendered when answering, never stored."""
    new, old = _piece(new_piece), _piece(old_piece)
    if not new or not old:
        return conflict_phrase(code)
    template = _CODES.get(code)
    if template is not None:
        return template.format(new=f"“{new}”", old=f"“{old}”")
    return f"{conflict_phrase(code)}: “{new}” against “{old}”"


def event_words(kind: str, other_id: str, before: float, after: float, reason: str, at: Instant) -> str:
    """One event of the audit trail in words."""
    numbers = f"trust {percent(before)} → {percent(after)}"
    why = f" ({reason})" if reason else ""
    words = {
        "remembered": f"remembered with trust {percent(after)}",
        "supported": f"remembered again{why}; trust stays {percent(after)}",
        "contradicted": f"contradicted by {other_id}: {numbers}",
        "decayed": f"evidence contradicted by {other_id}: {numbers}",
        "withdrawn": f"drop by {other_id} withdrawn{why}: {numbers}",
        "superseded": f"superseded by {other_id}{why}",
        "forgotten": f"forgotten{why}",
        "purged": f"content erased{why}",
        "resolved": f"contradiction with {other_id} settled{why}",
    }
    return f"{iso(at)} {words.get(kind, kind)}"
