"""When two asserted clauses cannot both hold. Each rule is silent unless it can account for every difference.

The clauses are taken as (new, old). Three questions are asked in turn: do both fill the same single-valued attribute of
the same subject with different values; does the new clause say that what the old one has was replaced; are the two
clauses the same but for their polarity, one pair of opposites or one value.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from hydramind_domain import lexicon
from hydramind_domain.conflict_clauses import Clause
from hydramind_domain.conflict_frames import GENERIC, MOVED, PLAIN, Frame
from hydramind_domain.conflict_tokens import Token
from hydramind_domain.values import differ

_MAX_DIFFERENCES: Final = 3
_SCENE_CLASSES: Final = frozenset({"colour", "country", "nationality", "planet", "direction"})
_LOCATED: Final = frozenset(
    lexicon.lemma(word) for word in "live reside locate base host run deploy situate headquarter stay store keep".split()
)
_SCHEDULED: Final = frozenset(
    lexicon.lemma(word)
    for word in "due schedule plan set move postpone end start expire launch ship release begin open close happen deploy meet freeze run rotate rescheduled back".split()
)
_RESTRICTING: Final = frozenset(
    {
        "at",
        "with",
        "under",
        "for",
        "in",
        "on",
        "during",
        "when",
        "while",
        "if",
        "per",
        "by",
        "of",
        "between",
        "among",
        "across",
        "within",
        "until",
        "before",
        "after",
        "since",
        "from",
    }
)
_IDENTIFYING: Final = frozenset(
    lexicon.lemma(word)
    for word in "issue ticket pr bug version page chapter line step phase room section item build day part season episode level node shard worker adr rfc rule error code task sprint milestone question row column".split()
)
_CAPPING: Final = frozenset(
    lexicon.lemma(word) for word in "cap limit set fix stay remain hold pin peak top max listen bind run expose".split()
)
_LEAVING: Final = frozenset(
    lexicon.lemma(word)
    for word in "sell leave quit resign remove delete drop disable stop cancel die divorce uninstall abandon ditch retire close".split()
)
_PREFERENCE: Final = frozenset(
    lexicon.lemma(word) for word in "love like enjoy adore prefer hate dislike detest loathe despise fancy".split()
)
_OVER: Final = frozenset({"over", "to", "than"})


@dataclass(frozen=True, slots=True)
class Finding:
    """A conflict between two clauses: the reason code, the words, and the code point spans in either content."""

    code: str
    reason: str
    new: tuple[int, int]
    old: tuple[int, int]


def compare(new: Clause, old: Clause) -> Finding | None:
    """The conflict between two clauses, or None."""
    if new.rejected and not old.negated and not new.rejected.isdisjoint(old.stems):
        found = _replaced(new, old)
        if found is not None:
            return found
    shared = new.stems & old.stems
    if new.frames and old.frames:
        found = _frames(new, old)
        if found is not None:
            return found
    if len(shared) * 2 < min(len(new.stems), len(old.stems)) - 1 or not (shared or len(new.core) == len(old.core)):
        return None
    return _aligned(new, old, shared)


# ---- the same attribute of the same subject -------------------------------------------------------------------------


def _frames(new: Clause, old: Clause) -> Finding | None:
    if new.additive or (old.past and not new.past):
        return None
    for one in new.frames:
        for two in old.frames:
            if one.subject == two.subject and one.context == two.context and _same_attribute(one, two):
                found = _values_conflict(new, one, two)
                if found is not None:
                    return found
    return None


def _same_attribute(new: Frame, old: Frame) -> bool:
    if new.attribute == old.attribute:
        return new.attribute not in {PLAIN, MOVED} or _comparable_plain(new, old)
    if new.attribute == MOVED:
        return _move_reaches(new, old)
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
    if old.attribute in {"assignment", "team", "hosting", "database", "region", "branch", "employer"}:
        kinds = {t.key for t in new.value} & {t.key for t in old.value} & GENERIC
        return bool(kinds) or _same_class(new, old)
    return False


def _same_class(new: Frame, old: Frame) -> bool:
    classes = {t.member.class_name for t in new.value if t.member is not None}
    return any(t.member is not None and t.member.class_name in classes for t in old.value)


def _values_conflict(clause: Clause, new: Frame, old: Frame) -> Finding | None:
    one, two = _typed(new), _typed(old)
    code = "value_name"
    if one is not None and two is not None:
        decided = _typed_differ(one, two)
        if not decided or not _residue_agrees(new, old, one, two):
            return None
        code = _code(one, two)
    elif one is not None or two is not None:
        typed = one or two
        if new.attribute in {PLAIN, MOVED} or (typed is not None and typed.value is not None):
            return None
    if one is None or two is None:
        if new.keys <= old.keys or old.keys <= new.keys or not _names_exclude(new, old):
            return None
    if clause.correction == 2:
        code = "correction"
    return Finding(code, _value_reason(new, old), (new.start, new.end), (old.start, old.end))


def _names_exclude(new: Frame, old: Frame) -> bool:
    """Two open names exclude each other where both are names, or where the attribute itself is of one word's choice."""
    if new.named and old.named:
        return True
    return new.attribute in {"status", "favourite", "mode", "priority", "naming", "indentation", "colour", "language", "default", "algorithm", "format", "protocol", "name", "database", "branch", "team", "assignment", "cache", "broker", "hosting"} and len(new.value) <= 2 and len(old.value) <= 2  # fmt: skip


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


def _code(one: Token, two: Token) -> str:
    kinds = {token.value.kind for token in (one, two) if token.value is not None}
    if not kinds or "address" in kinds:
        return "value_name"
    if "version" in kinds:
        return "value_version"
    return "value_date" if kinds & {"date", "clock"} else "value_number"


def _value_reason(new: Frame, old: Frame) -> str:
    name = {PLAIN: "value", MOVED: "place"}.get(new.attribute, new.attribute.removeprefix("tech-"))
    return f"the {name} is now {_words(new.value)}; it was {_words(old.value)}"


def _words(tokens: tuple[Token, ...]) -> str:
    return " ".join(token.folded for token in tokens)


# ---- X replaced by Y ------------------------------------------------------------------------------------------------


def _replaced(new: Clause, old: Clause) -> Finding | None:
    """ "Replaced X with Y" against a clause that has X, in the same context or with no context of its own."""
    if old.past or new.additive or (old.rejected and not old.rejected.isdisjoint(new.rejected)):
        return None
    at = [index for index, key in enumerate(old.keys) if key in new.rejected]
    if not at or not new.rejected <= old.stems or not (_is_object(old, at[0])):
        return None
    rest = [i for i, key in enumerate(new.keys) if key not in new.rejected and not key.startswith("@")]
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


_REPLACING: Final = frozenset(lexicon.lemma(word) for word in "replace swap move switch migrate use let go".split())


# ---- the same clause but for one thing --------------------------------------------------------------------------------


def _aligned(new: Clause, old: Clause, shared: frozenset[str]) -> Finding | None:
    if (new.deictic or old.deictic) and not (new.scene and old.scene):
        return None
    if new.keys == old.keys:
        return _same_words(new, old)
    if abs(len(new.core) - len(old.core)) <= _MAX_DIFFERENCES and not new.vague and not old.vague:
        found = _one_difference(new, old, new.core, old.core) or _one_difference(new, old, new.full, old.full)
        if found is not None:
            return found
    return _state_change(new, old, shared) or _swapped_preference(new, old)


def _same_words(new: Clause, old: Clause) -> Finding | None:
    if new.negated == old.negated:
        if len(new.full) == len(old.full) and new.full != old.full:
            return _one_difference(new, old, new.full, old.full)
        return None
    return _negation(new, old) if new.governors == old.governors else None


def _negation(new: Clause, old: Clause) -> Finding | None:
    if new.vague or old.vague or not _moods_clash(new, old) or _tenses_part(new, old) or not _about_something(new):
        return None
    new_span, old_span = _negation_span(new), _negation_span(old)
    code = "preference" if not _PREFERENCE.isdisjoint(new.stems) and "@me" in new.stems else "negation"
    return Finding(code, "one says that it is so, the other that it is not", new_span, old_span)


def _about_something(clause: Clause) -> bool:
    """One bare word, or "I" and a verb, is too little to be a claim."""
    content = [token for token in clause.core if not token.key.startswith("@")]
    return len(content) >= 2 or (len(content) == 1 and content[0].capital is False and clause.copular)


def _negation_span(clause: Clause) -> tuple[int, int]:
    return clause.negation or (clause.core[0].start, clause.core[-1].end)


def _moods_clash(new: Clause, old: Clause) -> bool:
    """ "Need not" contradicts a duty only; "may not" a permission, a duty or a plain statement."""
    moods = {new.modality, old.modality}
    return "exempt" not in moods or "obligation" in moods


def _tenses_part(new: Clause, old: Clause) -> bool:
    """One speaks of the past and the other does not (a "no longer" is about now)."""
    return new.past != old.past and not new.no_longer and not (new.past_event and not old.past)


def _one_difference(new: Clause, old: Clause, left: tuple[Token, ...], right: tuple[Token, ...]) -> Finding | None:
    """The clauses agree word for word but for at most three opposites or values in corresponding places."""
    pairs = _differences(left, right)
    if pairs is None or not pairs or len(pairs) > _MAX_DIFFERENCES:
        return None
    kept = len(left) - len(pairs)
    if kept < 1 or (kept < 2 and not _enough(new, pairs)):
        return None
    found: Finding | None = None
    opposed = 0
    for index, one, two in pairs:
        verdict = _pair(new, old, left, index, one, two)
        if verdict is None:
            return None
        opposed += verdict[0] in {"antonym", "state_change", "preference", "converse"}
        found = found or Finding(verdict[0], verdict[1], (one.start, one.end), (two.start, two.end))
    if found is None or (len(pairs) > 1 and len({(one.key, two.key) for _i, one, two in pairs}) > 1):
        return None
    if new.negated != old.negated or (opposed and _tenses_part(new, old) and not new.past_event):
        return None
    return found


def _enough(new: Clause, pairs: list[tuple[int, Token, Token]]) -> bool:
    """With one word in common only a plain copular clause or a typed value will do ("Caching is disabled")."""
    return new.copular or new.correction == 2 or any(one.typed for _index, one, _two in pairs)


def _differences(left: tuple[Token, ...], right: tuple[Token, ...]) -> list[tuple[int, Token, Token]] | None:
    """Corresponding tokens that differ; None when the two do not correspond one to one."""
    if len(left) != len(right):
        return None
    pairs = [(i, a, b) for i, (a, b) in enumerate(zip(left, right, strict=True)) if a.key != b.key]
    return pairs if len(pairs) <= _MAX_DIFFERENCES else None


def _pair(new: Clause, old: Clause, line: tuple[Token, ...], index: int, one: Token, two: Token) -> tuple[str, str] | None:
    """The conflict between two corresponding tokens: (code, reason), or None."""
    at = _core_index(new, line, index)
    scene = new.scene and old.scene and not new.definite
    if one.value is not None and two.value is not None:
        return _value_pair(new, old, line, index, at, scene=scene)
    if new.correction == 2 and at >= new.verb_at and not one.typed and not two.typed and len(line) >= 3:
        return "correction", f"{two.folded} was corrected to {one.folded}"
    if one.member is not None and two.member is not None and lexicon.classes_differ(one.member, two.member):
        return _class_pair(new, at, one, two, scene=scene)
    kind = lexicon.opposite_kind(one.keys or (one.folded,), two.keys or (two.folded,))
    if kind is None:
        return _correction_pair(new, at, one, two)
    return _opposite_pair(new, old, at, one, two, kind, scene=scene)


def _core_index(clause: Clause, line: tuple[Token, ...], index: int) -> int:
    token = line[index]
    for position, other in enumerate(clause.core):
        if other.start >= token.start:
            return position
    return len(clause.core)


def _correction_pair(new: Clause, at: int, one: Token, two: Token) -> tuple[str, str] | None:
    """ "Actually" corrects the object of a verb that has one object at a time."""
    if new.correction == 0 or at < max(new.verb_at, 1) or (new.multi_valued and new.correction < 2) or len(new.core) < 3:
        return None
    return "correction", f"{two.folded} was corrected to {one.folded}"


def _opposite_pair(
    new: Clause, old: Clause, at: int, one: Token, two: Token, kind: str, *, scene: bool
) -> tuple[str, str] | None:
    code = {"antonym": "antonym", "state": "state_change", "converse": "converse", "preference": "preference"}[kind]
    if one.key in _PREFERENCE or two.key in _PREFERENCE:
        code = "preference"
    reason = f"{one.folded} against {two.folded}"
    if scene:
        return code, reason
    if at < new.verb_at and not (at == new.verb_at - 1 and new.core[at].role == "prep"):
        return None  # another subject: "the old API" and "the new API"
    if new.multi_valued and at > new.verb_at and (new.indefinite_object or not one.typed):
        return None  # two objects of a verb that takes many: "likes hot coffee", "likes cold coffee"
    if new.past_event and old.past_event and kind == "antonym":
        return None  # two events
    return code, reason


def _class_pair(new: Clause, at: int, one: Token, two: Token, *, scene: bool) -> tuple[str, str] | None:
    name = one.member.class_name if one.member is not None else ""
    verdict = "value_date" if name in {"weekday", "month"} else "value_name"
    reason = f"{one.folded} against {two.folded}"
    if scene and name in _SCENE_CLASSES:
        return verdict, reason
    if at < max(new.verb_at, 1) or new.additive or new.past_event:
        return None
    verb = new.core[new.verb_at].key if new.verb_at < len(new.core) else ""
    if name in {"country", "city"}:
        return (verdict, reason) if at == new.verb_at and new.copular or verb in _LOCATED else None
    if name in {"weekday", "month", "season"}:
        return (verdict, reason) if (new.copular and at == new.verb_at) or verb in _SCHEDULED else None
    if new.copular and at == new.verb_at:
        return verdict, reason
    return (verdict, reason) if not new.multi_valued and not new.governors[at] and new.correction else None


def _value_pair(new: Clause, old: Clause, line: tuple[Token, ...], index: int, at: int, *, scene: bool) -> tuple[str, str] | None:
    one = line[index]
    two = next((token for token in (old.core if len(line) == len(new.core) else old.full)[index : index + 1]), None)
    if two is None or one.value is None or two.value is None or not differ(one.value, two.value):
        return None
    code = _code(one, two)
    reason = f"{one.folded} against {two.folded}"
    if scene:
        return code, reason
    if new.past_event or old.past_event or new.additive:
        return None
    ok = {"date": _date_is_value, "clock": _date_is_value, "ordinal": _ordinal_is_value}.get(one.value.kind, _number_is_value)
    return (code, reason) if ok(new, at) else None


def _date_is_value(clause: Clause, at: int) -> bool:
    if at < max(clause.verb_at, 1):
        return False
    verb = clause.core[clause.verb_at].key if clause.verb_at < len(clause.core) else ""
    return (clause.copular and at == clause.verb_at) or verb in _SCHEDULED


def _ordinal_is_value(clause: Clause, at: int) -> bool:
    return clause.copular and at == clause.verb_at


def _number_is_value(clause: Clause, at: int) -> bool:
    """Whether a number says how much, rather than which one or under what condition."""
    token = clause.core[at]
    before = clause.core[at - 1] if at else None
    if at < clause.verb_at:
        return before is None and at + 1 < len(clause.core) and clause.core[at + 1].folded.endswith("s") and token.value is not None and token.value.kind == "number"  # fmt: skip
    if token.value is not None and token.value.kind == "version" and clause.multi_valued:
        return False
    if before is not None and before.key in _IDENTIFYING and clause.governors[at] == clause.governors[at - 1]:
        return False
    governor = clause.governors[at]
    if not governor or governor in {"to", "than", "up", "after", "every", "over", "under"}:
        return True
    verb = clause.core[clause.verb_at].key if clause.verb_at < len(clause.core) else ""
    if at == clause.verb_at and clause.copular:
        return True
    return verb in _CAPPING or (governor not in _RESTRICTING) or (governor in {"for", "within", "in", "before"} and token.value is not None and token.value.dimension == "time")  # fmt: skip


# ---- one state against the change that ends it ----------------------------------------------------------------------


def _state_change(new: Clause, old: Clause, shared: frozenset[str]) -> Finding | None:
    """ "Alice works at Google as an engineer" / "Alice left Google last month"; "must" / "no longer" with less detail."""
    if new.negated != old.negated:
        return _wider_negation(new, old, shared) if new.negated else None
    if new.negated or new.vague or old.vague or (old.past and not new.past) or new.additive:
        return None
    extra = list((Counter(new.keys) - Counter(old.keys)).elements())
    lost = list((Counter(old.keys) - Counter(new.keys)).elements())
    changes = [t for t in new.core if t.key in extra and not _idle(t)]
    ended = [t for t in old.core if t.key in lost and not t.key.startswith("@we")]
    for one in changes:
        for two in (*ended, *old.have):
            kind = lexicon.opposite_kind(one.keys or (one.folded,), two.keys or (two.folded,))
            if kind in {"state", "preference"} and _covers(new, old, one, two, changes, ended):
                code = "preference" if kind == "preference" else "state_change"
                return Finding(code, f"{one.folded} against {two.folded}", (one.start, one.end), (two.start, two.end))
    return None


def _idle(token: Token) -> bool:
    return token.temporal or token.key in GENERIC or token.key.startswith("@we")


def _covers(new: Clause, old: Clause, one: Token, two: Token, changes: list[Token], ended: list[Token]) -> bool:
    """Nothing else in the new clause is foreign to the old one, and what the old one adds comes after its own object."""
    if any(token is not one for token in changes):
        return False
    shared = [index for index, key in enumerate(old.keys) if key in new.stems]
    named = [i for i in shared if not old.keys[i].startswith("@") and old.keys[i] not in GENERIC]
    extras = [i for i, t in enumerate(old.core) if any(t is e for e in ended) and t is not two and not _idle(t)]
    if not extras:
        return bool(named)
    if len(named) < 2 and not (named and "@me" in new.stems):
        return False
    return one.key in _LEAVING and all(
        i > shared[-1] or (old.governors[i] == "as") or _names_holder(old, i, named) for i in extras
    )


def _names_holder(old: Clause, index: int, named: list[int]) -> bool:
    """ "The config has a retry flag" / "We removed the retry flag": the holder may go unnamed."""
    return index < old.verb_at and len(named) >= 2


def _wider_negation(new: Clause, old: Clause, shared: frozenset[str]) -> Finding | None:
    """A negation that leaves out details which the old clause gave only as the way ("as an engineer")."""
    lost = [i for i, key in enumerate(old.keys) if key not in new.stems]
    if not new.stems <= old.stems or len(shared) < 2 or any(old.governors[i] != "as" for i in lost):
        return None
    kept = [old.governors[i] for i in range(len(old.keys)) if i not in lost]
    return _negation(new, old) if kept == list(new.governors) else None


def _swapped_preference(new: Clause, old: Clause) -> Finding | None:
    """ "Prefers tabs over spaces" against "prefers spaces over tabs"."""
    if new.negated != old.negated or len(new.core) != len(old.core) or new.stems != old.stems or new.keys == old.keys:
        return None
    if lexicon.lemma("prefer") not in new.stems:
        return None
    differing = [i for i, (a, b) in enumerate(zip(new.keys, old.keys, strict=True)) if a != b]
    if len(differing) != 2:
        return None
    one, two = new.core[differing[0]], old.core[differing[0]]
    return Finding("preference", f"{one.folded} rather than {two.folded}", (one.start, one.end), (two.start, two.end))
