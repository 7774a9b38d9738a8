"""LoCoMo through a real daemon: every turn imported, every question recalled, over the typed client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks._locomo_data import Conversation, Turn
from hydramind_client import Client
from hydramind_client.model import ImportRecord

MOST = 20


class DaemonAsker:
    """Asks a daemon. Forgotten evidence is told again after the question, so that the next one finds it."""

    def __init__(self, client: Client, conversations: Sequence[Conversation]) -> None:
        self._client = client
        self._conversations = {conversation.scope: conversation for conversation in conversations}
        self._turns: dict[str, list[str]] = {}
        self._memory: dict[tuple[str, str], str] = {}
        self.conflicts = 0

    def tell(self) -> int:
        """Import every conversation; the number of memories that are there now. Raises RuntimeError when one was refused."""
        return sum(self._tell(c.scope, c.turns, again=False) for c in self._conversations.values())

    def _tell(self, scope: str, turns: Sequence[Turn], *, again: bool) -> int:
        outcomes = self._client.import_(_records(scope, turns, again=again), scope)
        for outcome in outcomes:
            if outcome.error is not None or outcome.memory_id is None:
                raise RuntimeError(f"line {outcome.line} of {scope}: {outcome.error}")
            turn = turns[outcome.line - 1]
            self._memory[scope, turn.turn_id] = outcome.memory_id
            self._turns.setdefault(outcome.memory_id, []).append(turn.turn_id)
            self.conflicts += 0 if again else outcome.conflicts
        return len({self._memory[scope, turn.turn_id] for turn in turns})

    def ask(self, scope: str, question: str, without: frozenset[str] = frozenset()) -> Sequence[str]:
        """See `Asker`."""
        gone = {self._memory[scope, turn]: turn for turn in sorted(without) if (scope, turn) in self._memory}
        for memory_id in gone:
            self._client.forget(memory_id, scope)
        answer = self._client.recall(question, scope, limit=MOST)
        found = [turn for memory in answer.memories for turn in self._turns[memory.memory_id]]
        if gone:
            lost = {turn for memory_id in gone for turn in self._turns[memory_id]}
            self._tell(scope, [t for t in self._conversations[scope].turns if t.turn_id in lost], again=True)
        return found


def _records(scope: str, turns: Sequence[Turn], *, again: bool) -> Iterator[ImportRecord]:
    """External ids make a second import change nothing, so what was forgotten is told again without one."""
    for line, turn in enumerate(turns, 1):
        external_id = "" if again else f"{scope}:{turn.turn_id}"
        yield ImportRecord(line, turn.content, external_id, scope, (turn.speaker,), valid_from=turn.valid_from.isoformat())
