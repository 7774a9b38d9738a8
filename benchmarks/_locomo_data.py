"""The LoCoMo conversations as memories: one a turn, the speaker as entity, the date as valid time, a scope a conversation."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ANSWERABLE = (1, 2, 3, 4)
ADVERSARIAL = 5


@dataclass(frozen=True, slots=True)
class Turn:
    """One memory. `content` is what was said, with the caption of the picture that was shown, if any."""

    turn_id: str
    speaker: str
    content: str
    valid_from: datetime


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the ids of the turns that hold its answer."""

    text: str
    evidence: frozenset[str]
    category: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A scope."""

    scope: str
    turns: tuple[Turn, ...]
    questions: tuple[Asked, ...]

    @property
    def answerable(self) -> tuple[Asked, ...]:
        """Questions of categories 1 to 4 that name at least one turn as evidence."""
        return tuple(q for q in self.questions if q.category in ANSWERABLE and q.evidence)

    @property
    def adversarial(self) -> tuple[Asked, ...]:
        """Questions of category 5: about what was never said, in words that were."""
        return tuple(q for q in self.questions if q.category == ADVERSARIAL)


def data_file() -> Path:
    """`locomo_half.json` in $HYDRAMIND_EVAL_DATA, by default ../shared/data beside the checkout."""
    root = Path(__file__).resolve().parent.parent
    return Path(os.environ.get("HYDRAMIND_EVAL_DATA") or root / "../shared/data").resolve() / "locomo_half.json"


def load(path: Path) -> tuple[Conversation, ...]:
    """Read the conversations. Evidence that names no turn of the conversation stays: it counts as not found."""
    return tuple(_conversation(entry) for entry in json.loads(path.read_text(encoding="utf-8")))


def _conversation(entry: dict[str, object]) -> Conversation:
    turns, questions = entry["turns"], entry["questions"]
    assert isinstance(turns, list)
    assert isinstance(questions, list)
    return Conversation(
        str(entry["conversation"]),
        tuple(_turn(turn) for turn in turns),
        tuple(Asked(q["question"], frozenset(q["evidence"]), int(q["category"])) for q in questions),
    )


def _turn(turn: dict[str, str]) -> Turn:
    caption = turn.get("image")
    content = f"{turn['text'].strip()} [{caption}]" if caption else turn["text"].strip()
    when = datetime.strptime(turn["date"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    return Turn(turn["id"], turn["speaker"], content, when)
