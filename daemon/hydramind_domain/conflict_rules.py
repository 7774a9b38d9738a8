"""When two asserted clauses cannot both hold. Each rule is silent unless it can account for every difference.

The clauses are taken as (new, old). Three questions are asked in turn: do both fill the same single-valued attribute of
the same subject with different values; does the new clause say that what the old one has was replaced; are the two
clauses the same but for their polarity, one pair of opposites or one value.
"""

from __future__ import annotations

from typing import Final

from hydramind_domain import lexicon
from hydramind_domain.conflict_aligned import Finding, aligned, value_code
from hydramind_domain.conflict_clauses import Clause
from hydramind_domain.conflict_frames import GENERIC, MOVED, PLAIN, Frame
from hydramind_domain.conflict_tokens import Token
from hydramind_domain.values import differ

# Attributes whose values hold numbers that are names.
_ADDRESSED: Final = frozenset({"location", "name", "path", "room"})
# Attributes whose values are often no proper names ("the status is blocked").
_OPEN_VALUED: Final = lexicon.words("open valued")


def compare(new: Clause, old: Clause) -> Finding | None:
    """The conflict between two clauses, or None."""
    if new.rejected and not old.negated and not new.rejected.isdisjoint(old.stems):
        found = _replaced(new, old)
        if found is not None:
            return found
    if new.frames and old.frames:
        found = _frames(new, old)
        if found is not None:
            return found
    return aligned(new, old)


# ---- the same attribute of the same subject -------------------------------------------------------------------------


def _frames(new: Clause, old: Clause) -> Finding | None:
    if new.additive:
        return None
    for one in new.frames:
        for two in old.frames:
            if (new.past and not one.moved) or (old.past and not two.moved):
                continue  # "was 100 until March", "lived in Paris": nothing about now
            if one.subject == two.subject and one.context == two.context and _same_attribute(one, two):
                found = _values_conflict(new, one, two)
                if found is not None:
                    return found
    return None


def _same_attribute(new: Frame, old: Frame) -> bool:
    if new.attribute == old.attribute:
        return new.attribute not in {PLAIN, MOVED} or _comparable_plain(new, old)
    if MOVED in {new.attribute, old.attribute}:
        return _move_reaches(new, old) if new.attribute == MOVED else _move_reaches(old, new)
    return False


def _comparable_plain(new: Frame, old: Frame) -> bool:
    """A bare "X is V": typed values compare; names only behind a definite description ("the CI runner is …")."""
    if any(t.typed for t in new.value) and any(t.typed for t in old.value):
        return True
    return new.definite and old.definite and new.named and old.named


def _move_reaches(new: Frame, old: Frame) -> bool:
    """Whether "X moved to V" says something about an attribute of X: a place, a project or team of the same kind."""
    value = new.value[0]
    if old.attribute == "location":
        tool = value.member is not None and value.member.class_name not in {"city", "country"}
        return not tool and value.capital and new.keys.isdisjoint(GENERIC)
    if old.attribute == PLAIN:
        return value.member is not None and value.member.class_name in {"city", "country"} and _same_class(new, old)
    if old.attribute in {"assignment", "team", "hosting", "database", "region", "branch", "employer"}:
        kinds = {t.key for t in new.value} & {t.key for t in old.value} & GENERIC
        return (
            bool(kinds) or _same_class(new, old) or (old.attribute in {"region", "hosting", "branch"} and new.coded and old.coded)
        )
    return False


def _same_class(new: Frame, old: Frame) -> bool:
    classes = {t.member.class_name for t in new.value if t.member is not None}
    return any(t.member is not None and t.member.class_name in classes for t in old.value)


def _values_conflict(clause: Clause, new: Frame, old: Frame) -> Finding | None:
    one, two = _typed(new), _typed(old)
    code = "value_name"
    if one is not None and two is not None and one.value is not None and new.attribute in _ADDRESSED:
        one = two = None  # "12 Main St": the number is part of the name
    if one is not None and two is not None:
        decided = _typed_differ(one, two)
        if not decided or not _residue_agrees(new, old, one, two):
            return None
        code = value_code(one, two)
    elif one is not None or two is not None:
        typed = one or two
        if new.attribute in {PLAIN, MOVED} or (typed is not None and typed.value is not None):
            return None
    open_names = one is None or two is None
    if open_names and (new.keys <= old.keys or old.keys <= new.keys or not _names_exclude(new, old)):
        return None
    if clause.correction == 2:
        code = "correction"
    return Finding(code, _value_reason(new, old), (new.start, new.end), (old.start, old.end))


def _names_exclude(new: Frame, old: Frame) -> bool:
    """Two open names exclude each other where both are names, or where the attribute itself is of one word's choice."""
    if new.named and old.named:
        return True
    if len(new.value) == 1 == len(old.value) and lexicon.opposite_kind(new.value[0].keys, old.value[0].keys) is not None:
        return False  # opposites have a rule of their own
    return (new.attribute in _OPEN_VALUED or "default" in new.subject) and len(new.value) <= 2 and len(old.value) <= 2


def _typed(frame: Frame) -> Token | None:
    typed = [token for token in frame.value if token.typed]
    return typed[0] if len(typed) == 1 else None


def _typed_differ(one: Token, two: Token) -> bool:
    if one.value is not None and two.value is not None:
        return bool(differ(one.value, two.value))
    if one.member is not None and two.member is not None:
        return lexicon.classes_differ(one.member, two.member)
    return False


def _residue_agrees(new: Frame, old: Frame, one: Token, two: Token) -> bool:
    """The words around the values ("30 ms" and "30 ms per call") must be the same."""
    left = {token.key for token in new.value if token is not one} - GENERIC
    right = {token.key for token in old.value if token is not two} - GENERIC
    return left == right


def _value_reason(new: Frame, old: Frame) -> str:
    name = {PLAIN: "value", MOVED: "place"}.get(new.attribute, new.attribute.removeprefix("tech-"))
    return f"the {name} is now {_words(new.value)}; it was {_words(old.value)}"


def _words(tokens: tuple[Token, ...]) -> str:
    return " ".join(token.folded for token in tokens)


# ---- X replaced by Y ------------------------------------------------------------------------------------------------


def _replaced(new: Clause, old: Clause) -> Finding | None:
    """As in "Replaced X with Y" against a clause that has X, in the same context or with no context of its own."""
    if old.past or new.additive or (old.rejected and not old.rejected.isdisjoint(new.rejected)):
        return None
    at = [index for index, key in enumerate(old.keys) if key in new.rejected]
    if not at or not new.rejected <= old.stems or not (_is_object(old, at[0])):
        return None
    rest = [i for i, key in enumerate(new.keys) if key not in new.rejected and not key.startswith("@")]
    if not new.correction and _REPLACED_BY.isdisjoint(new.stems) and not any(new.keys[i] in old.stems for i in rest):
        return None  # a mere "…, not X" needs more in common than X
    foreign = [i for i in rest if new.keys[i] not in old.stems and not _is_replacement(new, i)]
    if foreign or (len(rest) == len(foreign) and not new.core):
        return None
    token = old.core[at[-1]]
    first = next((t for t in new.core if t.key in new.rejected), None)
    span = (first.start, first.end) if first is not None else (new.start, max(new.end, new.start + 1))
    code = "correction" if new.correction else "state_change"
    return Finding(code, f"{token.folded} was replaced", span, (token.start, token.end))


def _is_object(old: Clause, index: int) -> bool:
    return index >= old.verb_at and not (old.multi_valued and old.core[index].value is not None)


def _is_replacement(new: Clause, index: int) -> bool:
    """The verb itself, the words for its kind, and the one thing that takes the place."""
    token = new.core[index]
    if token.key in GENERIC or token.temporal or index == new.verb_at or token.key in _REPLACING:
        return True
    neighbours = [i for i, key in enumerate(new.keys) if key not in new.rejected and i > new.verb_at]
    governor = new.governors[index]
    return governor in {"with", "by", "to"} or (governor in {"", "of", "than"} and index in neighbours[:2])


_REPLACED_BY: Final = lexicon.stems("replaced by")
_REPLACING: Final = lexicon.stems("replacing")
