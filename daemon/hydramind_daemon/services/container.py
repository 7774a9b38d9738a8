"""All use cases of a daemon, and the life of their threads."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from hydramind.settings import Settings, TrustSettings
from hydramind_daemon.services.admin import Admin
from hydramind_daemon.services.changing import Changing
from hydramind_daemon.services.echo import EchoGuard
from hydramind_daemon.services.explaining import Explaining
from hydramind_daemon.services.hub import EventHub
from hydramind_daemon.services.looking import Looking
from hydramind_daemon.services.mailbox import Mailbox
from hydramind_daemon.services.ports import Clock, IdSource, ScopeLocks, Store
from hydramind_daemon.services.readers import Readers
from hydramind_daemon.services.recalling import Recalling
from hydramind_daemon.services.scopes import Scopes
from hydramind_daemon.services.timelines import Timelines
from hydramind_daemon.services.tracing import Tracing
from hydramind_daemon.services.transfer import Transfer
from hydramind_daemon.services.writer import Writer, WriterPace
from hydramind_domain.conflict import BuiltinClassifier
from hydramind_domain.model import Instant, TrustRules
from hydramind_domain.ranking import scorer


@dataclass(slots=True)
class Activity:
    """Calls under way, and when one last began or ended (monotonic seconds)."""

    clock: Clock
    calls: int = 0
    last: float = 0.0

    def begin(self) -> None:
        """A call begins."""
        self.calls += 1
        self.last = self.clock.monotonic()

    def end(self) -> None:
        """A call ends, however it ends."""
        self.calls -= 1
        self.last = self.clock.monotonic()


def trust_rules(settings: TrustSettings) -> TrustRules:
    """The constants of trust as configured."""
    return TrustRules(settings.contradiction_drop, settings.hop_drop, settings.hops, settings.floor)


class Services:
    """The composed use cases. Build, start, serve, end_watches, drain; the store is closed by whoever opened it."""

    def __init__(self, store: Store, locks: ScopeLocks, settings: Settings, clock: Clock, ids: IdSource) -> None:
        daemon = settings.daemon
        self.clock = clock
        self.activity = Activity(clock, last=clock.monotonic())
        self.readers = Readers(store, clock, daemon.readers)
        pace = WriterPace(daemon.batch_max, daemon.batch_wait_ms / 1000.0)
        self.writer = Writer(store, locks, clock, pace, trust_rules(settings.trust))
        self.hub = EventHub(self.readers, daemon.max_watches, lambda: self.writer.last_seq)
        self.scopes = Scopes(self.readers, self.writer)
        echoes = EchoGuard()
        self.changing = Changing(self.readers, self.writer, self.scopes, ids, BuiltinClassifier(), echoes)
        relevance = scorer(settings.recall.scorer, settings.recall.threshold)
        self.recalling = Recalling(self.readers, self.scopes, echoes, relevance, settings.recall.limit)
        self.looking = Looking(self.readers, self.scopes)
        self.timelines = Timelines(self.readers, self.scopes)
        self.tracing = Tracing(self.readers, self.scopes)
        self.explaining = Explaining(self.readers, self.writer, self.scopes, self.changing)
        self.transfer = Transfer(self.readers, self.writer, self.scopes, self.changing)
        self.admin = Admin(store, locks, clock, self.readers, self.writer, self.hub)

    @classmethod
    def build(cls, store: Store, locks: ScopeLocks, settings: Settings, clock: Clock, ids: IdSource) -> Services:
        """Compose; starts nothing."""
        return cls(store, locks, settings, clock, ids)

    async def start(self) -> None:
        """Start the threads; cascades that a former process left open go on. Raises what the store raises."""
        mailbox = Mailbox(asyncio.get_running_loop())
        self.readers.start(mailbox)
        await self.writer.start(mailbox, self.hub.committed)

    def apply(self, settings: Settings) -> None:
        """Take over the settings that may change while serving."""
        self.writer.rules = trust_rules(settings.trust)
        self.recalling.scorer = scorer(settings.recall.scorer, settings.recall.threshold)
        self.recalling.limit = settings.recall.limit

    async def ping(self) -> None:
        """Through the writer thread and the store and back; raises what goes wrong there."""
        await self.writer.call(self.admin.store_status)
        await self.readers.read(lambda view: view.sequence)

    def busy(self) -> bool:
        """Whether there is a call, a watch, a waiting command or an unfinished cascade."""
        return bool(self.activity.calls or self.hub.watchers or self.writer.waiting or self.writer.follow_ups)

    @property
    def last_activity(self) -> float:
        """When a call last began or ended, in seconds of the monotonic clock."""
        return self.activity.last

    def now(self) -> Instant:
        """Wall-clock time, never before the last commit: what was just written is valid now."""
        return max(self.clock.now(), self.writer.last_commit_at)

    def end_watches(self) -> None:
        """Every Watch stream ends with its last cursor."""
        self.admin.draining = True
        self.hub.end()

    async def drain(self) -> None:
        """Finish what was accepted, join the threads, give the scope locks back. Safe to call twice, and without start."""
        self.admin.draining = True
        await self.writer.stop()
        await self.readers.stop()
