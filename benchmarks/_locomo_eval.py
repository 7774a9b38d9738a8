"""What is measured on LoCoMo, whoever answers: recall of the evidence, and how often the unanswerable is answered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from benchmarks._locomo_data import Asked, Conversation

DEPTHS = (5, 10, 20)


class Asker(Protocol):
    """Answers questions about a conversation."""

    def ask(self, scope: str, question: str, without: frozenset[str] = frozenset()) -> Sequence[str]:
        """Ids of at least the 20 best turns, best first, none when it abstains; with the turns `without` forgotten."""
        ...


@dataclass(slots=True)
class Tally:
    """Sums of shares by name."""

    total: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    count: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, name: str, value: float) -> None:
        """One more observation."""
        self.total[name] += value
        self.count[name] += 1

    def means(self) -> dict[str, float]:
        """Mean of each name, to four digits."""
        return {name: round(self.total[name] / self.count[name], 4) for name in self.total}


def measure(conversations: Sequence[Conversation], asker: Asker) -> dict[str, object]:
    """Every question in its own scope, and the three kinds of unanswerable ones, apart.

    `recall_at_k` is the mean share of a question's evidence turns among the first k of the answer, 0 when it abstains, over the
    questions of categories 1 to 4. `answered` is the share of these that got any answer. `false_other_scope` is the share of
    them answered when asked in each other conversation's scope, `false_forgotten` in their own after the evidence was
    forgotten, `false_adversarial` the share of the questions of category 5 that got an answer.
    """
    tally = Tally()
    by_scope: dict[str, Tally] = {}
    for conversation in conversations:
        own = by_scope[conversation.scope] = Tally()
        for question in conversation.answerable:
            _own_scope(conversation, question, asker, (tally, own))
            for other in conversations:
                if other is not conversation:
                    _note((tally, own), "false_other_scope", bool(asker.ask(other.scope, question.text)))
        for question in conversation.adversarial:
            _note((tally, own), "false_adversarial", bool(asker.ask(conversation.scope, question.text)))
    for conversation in conversations:
        for question in conversation.answerable:
            answer = asker.ask(conversation.scope, question.text, question.evidence)
            _note((tally, by_scope[conversation.scope]), "false_forgotten", bool(answer))
    counts = {"questions": tally.count["answered"], "other_scope": tally.count["false_other_scope"]}
    counts["adversarial"] = tally.count["false_adversarial"]
    return {"counts": counts, **tally.means(), "by_scope": {scope: own.means() for scope, own in by_scope.items()}}


def _own_scope(conversation: Conversation, question: Asked, asker: Asker, tallies: Iterable[Tally]) -> None:
    answer = asker.ask(conversation.scope, question.text)
    _note(tallies, "answered", bool(answer))
    for depth in DEPTHS:
        found = len(question.evidence & set(answer[:depth])) / len(question.evidence)
        _note(tallies, f"recall_at_{depth}", found)


def _note(tallies: Iterable[Tally], name: str, value: float) -> None:
    for tally in tallies:
        tally.add(name, value)
