"""From `as_of` and `known_at` to what a read looks at (semantics: Time)."""

from __future__ import annotations

from dataclasses import dataclass

from hydramind_daemon.services import validate
from hydramind_daemon.services.ports import ReadView
from hydramind_domain.model import Instant
from hydramind_domain.timeparse import parse_known_at


@dataclass(frozen=True, slots=True)
class Moment:
    """The asked-for times, parsed but not yet looked up. All None: now and now."""

    as_of: Instant | None = None
    known_time: Instant | None = None
    known_seq: int | None = None

    @classmethod
    def of(cls, as_of: str = "", known_at: str = "") -> Moment:
        """Parse; raises InvalidArgument naming the field and the accepted forms."""
        time, seq = parse_known_at(known_at) if known_at.strip() else (None, None)
        return cls(validate.as_of(as_of), time, seq)

    def known(self, view: ReadView) -> int | None:
        """The commit sequence to look from; None for the newest state."""
        if self.known_time is not None:
            seq = view.sequence_at(self.known_time)
        elif self.known_seq is not None:
            seq = self.known_seq
        else:
            return None
        return seq if seq < view.sequence else None
