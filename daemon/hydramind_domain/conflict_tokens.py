"""From a sentence to the tokens that the conflict rules compare: words, phrases, typed values, members of closed classes.

Every token has an alignment key. Equal values have equal keys whatever their notation, inflections of a word share one
key, and words without content of their own (articles, forms of "be", auxiliaries, negators) carry a role instead.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from hydramind_domain import lexicon
from hydramind_domain.lexicon import ClassMember
from hydramind_domain.values import Value

_WORD_RE: Final = re.compile(r"[A-Za-z][\w+.-]*://[^\s,;)\]]*[\w/]|[^\W_](?:[\w+#]|[.'’@/:&-](?=\w))*|[=,:()–—]|->|→")

ARTICLES: Final = frozenset({"a", "an", "the"})
BE: Final = frozenset({"is", "are", "was", "were", "be", "been", "being", "am", "'s", "'re", "'m", "=", ":", "becomes", "became"})
AUXILIARIES: Final = frozenset({"do", "does", "did"})
HAVE: Final = frozenset({"have", "has", "had", "'ve"})
OBLIGATION: Final = frozenset({"must", "should", "shall", "needs", "need", "ought"})
PERMISSION: Final = frozenset({"may", "can"})
MODALS: Final = OBLIGATION | PERMISSION | {"will", "'ll", "'d", "would", "could", "might"}
NEGATORS: Final = frozenset({"not", "never", "no", "cannot", "nor", "neither", "n't"})
ADDITIVE: Final = frozenset({"also", "too", "additionally", "both", "another", "either", "besides"})
# Words that add emphasis or "as of this writing" and no content: an unmatched one is no difference.
SOFT: Final = frozenset(
    {"now", "currently", "actually", "really", "very", "just", "still", "already", "always", "today", "anymore", "indeed",
     "simply", "basically", "again", "so", "then", "nowadays", "henceforth", "please", "strictly", "only", "instead",
     "presently", "finally", "officially", "new", "current", "ever", "yet", "longer", "more", "any", "some", "all", "there",
     "definitely", "absolutely", "certainly", "totally", "quite", "recently", "directly", "own", "as", "that", "which",
     "who", "and", "to", "let", "let's", "his", "her", "hers", "their", "theirs"}
)  # fmt: skip
# Soft words that still oppose each other when both sides have one in the same place.
_SOFT_CONTENT: Final = frozenset({"new", "only", "still", "always", "some", "all"})
PREPOSITIONS: Final = frozenset(
    {"at", "in", "on", "for", "with", "of", "by", "from", "into", "onto", "via", "per", "during", "while", "when", "whenever",
     "until", "till", "within", "under", "over", "through", "across", "between", "among", "as", "than", "about", "except",
     "before", "after", "since", "near", "around", "against", "upon", "where", "if", "unless", "to"}
)  # fmt: skip
# Prepositions that are content as well, since they have opposites.
_CONTENT_PREPOSITIONS: Final = frozenset({"before", "after", "under", "over", "near", "through", "between", "against", "around"})
FIRST_PERSON: Final = frozenset({"i", "me", "my", "mine", "myself"})
FIRST_PLURAL: Final = frozenset({"we", "us", "our", "ours"})
DEICTIC: Final = frozenset(
    {"it", "they", "them", "this", "that", "these", "those", "you", "something", "anything", "its", "your"}
)
_NEGATIVE_TAIL: Final = re.compile(r"(?:n['’]t|not)$")
_CONTRACTION: Final = re.compile(r"^(.+?)(?:['’](s|re|m|ve|ll|d))$")
_PRONOUN_S: Final = frozenset({"it", "he", "she", "that", "there", "what", "who", "here", "this", "everything"})
_CAPITAL_CLASSES: Final = frozenset({"country", "nationality", "city"})
_CAPITAL_WORDS: Final = frozenset({"may", "march", "mar", "mon", "sat", "sun", "wed", "jan", "us", "turkey", "china"})
_SINGULAR_TIMES: Final = frozenset(
    {
        "last",
        "month",
        "week",
        "year",
        "yesterday",
        "ago",
        "tomorrow",
        "tonight",
        "morning",
        "afternoon",
        "evening",
        "next",
        "earlier",
    }
)


class Token(NamedTuple):
    """One token.

    `key` aligns, `keys` look up opposites, `role` is w (content), art, be, aux, have, modal, neg, soft, prep, pron, comma
    or conj; `start` and `end` are code points of the content; `possessive` marks a trailing 's.
    """

    key: str
    keys: tuple[str, ...]
    folded: str
    role: str
    start: int
    end: int
    capital: bool = False
    possessive: bool = False
    value: Value | None = None
    member: ClassMember | None = None

    @property
    def typed(self) -> bool:
        """Whether the token is a typed value or a member of a closed class."""
        return self.value is not None or self.member is not None

    @property
    def temporal(self) -> bool:
        """Whether the token only says when."""
        if self.value is not None:
            return self.value.kind in {"date", "clock"}
        if self.member is not None:
            return self.member.class_name in {"weekday", "month", "season"}
        return self.folded in _SINGULAR_TIMES


def tokenize(content: str, start: int, end: int, values: tuple[Value, ...]) -> list[Token]:
    """The tokens of content[start:end]; `values` are the typed values of the whole content."""
    tokens: list[Token] = []
    inside = [value for value in values if start <= value.start and value.end <= end]
    position = start
    for value in inside:
        _words(content, position, value.start, tokens)
        tokens.append(_value_token(value, tokens))
        position = value.end
    _words(content, position, end, tokens)
    return _merge(tokens)


def _value_token(value: Value, before: list[Token]) -> Token:
    """A value; a bare decimal right after a capitalised product name is a version ("Python 3.10")."""
    kind, keys = value.kind, value.keys
    if kind == "number" and not value.dimension and "." in value.surface and before:
        last = before[-1]
        if last.role == "w" and (last.capital or last.folded == "version") and last.member is None:
            from hydramind_domain.values import version_key

            kind, keys = "version", (version_key(value.surface),)
            value = Value(kind, "", keys, value.surface, value.start, value.end)
    key = f"{kind}:{value.dimension}:{keys[0]}"
    return Token(key, (), value.surface.casefold(), "w", value.start, value.end, value=value)


def _words(content: str, start: int, end: int, tokens: list[Token]) -> None:
    for match in _WORD_RE.finditer(content, start, end):
        at, stop = match.span()
        key, keys, folded, role, capital, member = _reading(match[0])
        if role:
            # What NamedTuple's own constructor does, without its detour through keyword defaults: this runs for every word.
            tokens.append(tuple.__new__(Token, (key, keys, folded, role, at, stop, capital, False, None, member)))
        else:
            _contracted(folded, capital, at, stop, tokens)


@lru_cache(maxsize=16384)
def _reading(surface: str) -> tuple[str, tuple[str, ...], str, str, bool, ClassMember | None]:
    """All of a token but its place: key, keys, folded, role, capital, member. No role: a contraction, to be taken apart."""
    if surface == ",":
        return ",", (), ",", "comma", False, None
    folded = surface.casefold().replace("’", "'")
    capital = surface[0].isupper()
    if "'" in folded:
        return "", (), folded, "", capital, None
    key, keys, role, member = _meaning(folded, capital)
    return key, keys, folded, role, capital, member


def _contracted(folded: str, capital: bool, start: int, end: int, tokens: list[Token]) -> None:
    if folded.endswith("n't"):
        stem = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}.get(folded[:-3], folded[:-3])
        tokens.append(_word(stem, capital, start, end))
        tokens.append(Token("not", (), "not", "neg", start, end))
        return
    match = _CONTRACTION.match(folded)
    if match is None:
        tokens.append(_word(folded, capital, start, end))
        return
    head, tail = match[1], match[2]
    if tail == "s" and head not in _PRONOUN_S and head != "let":
        tokens.append(_word(head, capital, start, end - 2, possessive=True))
        return
    tokens.append(_word(head, capital, start, end - len(tail) - 1))
    if head != "let":
        tokens.append(_word("'" + tail, capital=False, start=start, end=end))


_ROLES: Final = (
    ("art", ARTICLES),
    ("be", BE),
    ("aux", AUXILIARIES),
    ("have", HAVE),
    ("modal", MODALS),
    ("neg", NEGATORS),
    ("prep", PREPOSITIONS),
    ("soft", SOFT | ADDITIVE),
    ("pron", FIRST_PERSON | FIRST_PLURAL | DEICTIC),
    ("conj", frozenset({"and", "or", "but", "&"})),
    ("mark", frozenset({"(", ")", "–", "—", "->", "→"})),
)
_ROLE_OF: Final = {word: role for role, words in reversed(_ROLES) for word in words}


def _word(folded: str, capital: bool, start: int, end: int, *, possessive: bool = False) -> Token:
    key, keys, role, member = _meaning(folded, capital)
    return Token(key, keys, folded, role, start, end, capital, possessive, None, member)


@lru_cache(maxsize=4096)
def _meaning(folded: str, capital: bool) -> tuple[str, tuple[str, ...], str, ClassMember | None]:
    """Key, look-up keys, role and closed class of a folded word."""
    role = _ROLE_OF.get(folded, "w")
    if folded in {"and", "or"}:
        role = "conj"
    member = lexicon.class_members().get(folded) if role == "w" else None
    if member is not None and not capital and (member.class_name in _CAPITAL_CLASSES or folded in _CAPITAL_WORDS):
        member = None
    keys = lexicon.word_keys(folded)
    key = keys[0]
    if folded in FIRST_PERSON:
        key = "@me"
    elif folded in FIRST_PLURAL:
        key = "@we"
    elif member is not None:
        key = f"{member.class_name}:{member.canonical}"
    return key, keys, role, member


def _merge(tokens: list[Token]) -> list[Token]:
    """Join words that the lexicon reads as one: "North Korea", "far away from", "turn off"."""
    first_class, phrases = lexicon.class_first_words(), lexicon.phrases()
    folded = {token.folded for token in tokens}
    if "left" in folded:
        _read_left_as_verb(tokens)
    _read_states(tokens, folded)
    heads = [token.keys[0] if token.keys else "" for token in tokens]
    if first_class.keys().isdisjoint(folded) and phrases.keys().isdisjoint(heads):
        return tokens
    merged: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        joined = None
        if token.value is None and token.role != "comma":
            if token.folded in first_class:
                joined = _class_phrase(tokens, index, first_class[token.folded])
            if joined is None and token.keys and token.keys[0] in phrases:
                joined = _phrase(tokens, heads, index, phrases[token.keys[0]])
        if joined is None:
            merged.append(token)
            index += 1
        else:
            merged.append(joined[0])
            index += joined[1]
    return merged


def _read_left_as_verb(tokens: list[Token]) -> None:
    """As in "Alice left Google" is the verb, "the left lane" is the side."""
    for index, token in enumerate(tokens):
        if token.folded != "left" or not index:
            continue
        before, after = tokens[index - 1], tokens[index + 1] if index + 1 < len(tokens) else None
        if (
            before.role not in {"art", "prep"}
            and (before.role in {"pron", "have"} or before.capital)
            and (
                after is None
                or after.capital
                or after.role in {"art", "pron"}
                or after.folded in {"his", "her", "their", "my", "our"}
            )
        ):
            tokens[index] = Token(token.keys[0], token.keys, token.folded, "w", token.start, token.end)


# "Stopped using", "quit smoking": the rest of the clause no longer holds.
_CEASING: Final = frozenset(lexicon.lemma(word) for word in ("stop", "quit", "cease"))
_PARTICLES: Final = frozenset({"away", "off"})


def _read_particle(tokens: list[Token]) -> None:
    """As in "gave her cat away": the particle at the end belongs to its verb."""
    if len(tokens) < 3 or tokens[-1].folded not in _PARTICLES:
        return
    phrases = lexicon.phrases()
    for index, token in enumerate(tokens[:-2]):
        if token.role == "w" and (token.key, tokens[-1].key) in phrases.get(token.key, ()):
            key = f"{token.key} {tokens[-1].key}"
            tokens[index] = Token(key, (key,), f"{token.folded} {tokens[-1].folded}", "w", token.start, token.end)
            tokens.pop()
            return


def _read_states(tokens: list[Token], folded: set[str]) -> None:
    """As in "is on" at the end names a state, "can't stand" a dislike. `folded` are the words, by which most are spared."""
    if tokens and tokens[-1].folded == "on":
        last = tokens[-1]
        tokens[-1] = Token("on", ("on",), "on", "w", last.start, last.end)
    _read_particle(tokens)
    if "been" in folded:
        _read_been_to(tokens)
    if not _CEASING.isdisjoint({token.key for token in tokens}):
        _read_ceasing(tokens)
    if "stand" in folded:
        _read_cannot_stand(tokens)


def _read_been_to(tokens: list[Token]) -> None:
    for index in range(1, len(tokens)):
        if tokens[index - 1].folded == "been" and tokens[index].folded == "to":
            been = tokens[index - 1]
            tokens[index - 1] = Token("visit", ("visit",), "been", "w", been.start, been.end)


def _read_ceasing(tokens: list[Token]) -> None:
    for index in range(len(tokens) - 1):
        token, after = tokens[index], tokens[index + 1]
        if (
            token.key in _CEASING
            and token.role == "w"
            and after.role == "w"
            and after.folded.endswith("ing")
            and not after.capital
        ):
            tokens[index] = Token("not", (), token.folded, "neg", token.start, token.end)


def _read_cannot_stand(tokens: list[Token]) -> None:
    for index in range(len(tokens) - 2):
        first, middle, last = tokens[index : index + 3]
        if last.folded == "stand" and middle.role == "neg" and first.folded == "can":
            tokens[index : index + 3] = [Token("hate", ("hate",), "can't stand", "w", first.start, last.end)]
            return


def _class_phrase(tokens: list[Token], index: int, longest: int) -> tuple[Token, int] | None:
    members = lexicon.class_members()
    for length in range(min(longest, len(tokens) - index), 1, -1):
        run = tokens[index : index + length]
        member = members.get(" ".join(token.folded for token in run))
        if member is None or (member.class_name in _CAPITAL_CLASSES and not run[0].capital):
            continue
        key = f"{member.class_name}:{member.canonical}"
        folded = " ".join(token.folded for token in run)
        return Token(key, (), folded, "w", run[0].start, run[-1].end, run[0].capital, run[-1].possessive, None, member), length
    return None


def _phrase(tokens: list[Token], heads: list[str], index: int, options: tuple[tuple[str, ...], ...]) -> tuple[Token, int] | None:
    """The first of `options` that stands at `index`; `heads` are the lemmas of the tokens."""
    for words in options:
        if tuple(heads[index : index + len(words)]) == words:
            run = tokens[index : index + len(words)]
            key = " ".join(words)
            folded = " ".join(token.folded for token in run)
            return Token(key, (key,), folded, "w", run[0].start, run[-1].end, run[0].capital), len(words)
    return None


def is_content(token: Token) -> bool:
    """Whether a token takes part in the alignment."""
    return (
        token.role == "w"
        or (token.role == "prep" and token.folded in _CONTENT_PREPOSITIONS)
        or (token.role == "pron" and token.key.startswith("@"))
    )


def is_soft_content(token: Token) -> bool:
    """Whether a soft token is compared when the other side has one too."""
    return token.role == "soft" and token.folded in _SOFT_CONTENT
