"""The story of one contradiction, told on a home of its own, every number checked: `hydramind demo`, examples/demo.py."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hydramind_cli import draw
from hydramind_cli.commands_admin import process_runs
from hydramind_cli.exit_codes import ExitCode
from hydramind_cli.output import Output
from hydramind_client import model as m
from hydramind_client import spawn
from hydramind_client.client import Client
from hydramind_client.render import JsonObject

POLICY = "Production deploys must always use direct routing."
CHECKLIST = "Checklist follows deploy policy."
RUNBOOK = "The on-call runbook follows the checklist."
OPPOSITE = "Production deploys must not use direct routing."
ENTITY = "deploy-policy"
RUNTIME_OLD = "The gateway runs on Python 3.11."
RUNTIME_NEW = "The gateway runs on Python 3.13."
RUNTIME_SINCE = ("2026-01-15", "2026-06-01")
KNOWN_QUESTION = "How should production route?"
UNKNOWN_QUESTION = "Which airline does the finance team prefer?"
_STOP_S = 20.0


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that the story promises, and what came."""

    what: str
    expected: str
    found: str

    @property
    def ok(self) -> bool:
        """It came as promised."""
        return self.expected == self.found


@dataclass(slots=True)
class Cast:
    """Ids of the memories in the story."""

    policy: str = ""
    checklist: str = ""
    runbook: str = ""
    opposite: str = ""


@dataclass(slots=True)
class Story:
    """Tells the story in one scope through one client."""

    client: Client
    out: Output
    scope: str
    quiet: bool = False
    checks: list[Check] = field(default_factory=list)
    cast: Cast = field(default_factory=Cast)

    def tell(self) -> None:
        """All chapters, in order."""
        chapters: Sequence[tuple[str, Callable[[], None]]] = (
            ("Three facts, each built on the one before", self.chain),
            ("An opposite claim is caught before it is written", self.check),
            ("It is written all the same: trust falls, hop by hop", self.write),
            ("What an agent is told now", self.find),
            ("A fact that changed keeps its dates", self.revise),
            ("Where does the runbook come from?", self.trace),
            ("Why is its trust what it is?", self.explain),
            ("The contradiction was wrong: every number goes back", self.dismiss),
            ("A question that nothing answers", self.abstain),
        )
        for number, (title, chapter) in enumerate(chapters, 1):
            if not self.quiet:
                self.out.line()
                self.out.rule(f"{number}  {title}")
            chapter()

    # -- chapters

    def chain(self) -> None:
        """A chain of two DERIVED_FROM hops, all trusted."""
        self._command("remember", POLICY, f"--entity {ENTITY}")
        self._command("remember", CHECKLIST, "--derived-from <policy>")
        self._command("remember", RUNBOOK, "--derived-from <checklist>")
        policy = self.client.remember(POLICY, self.scope, [ENTITY])
        checklist = self.client.remember(CHECKLIST, self.scope, derived_from=[policy.memory_id])
        runbook = self.client.remember(RUNBOOK, self.scope, derived_from=[checklist.memory_id])
        self.cast = Cast(policy.memory_id, checklist.memory_id, runbook.memory_id)
        for name, answer in (("the policy", policy), ("the checklist", checklist), ("the runbook", runbook)):
            self._expect(f"trust of {name} when it is new", 1.0, answer.trust_score)
        self._draw_chain([1.0, 1.0, 1.0], [1.0, 1.0, 1.0])

    def check(self) -> None:
        """The opposite claim is only asked about."""
        self._command("check", OPPOSITE, f"--entity {ENTITY}")
        answer = self.client.check_conflict(OPPOSITE, self.scope, [ENTITY])
        self._expect("the check finds the policy", [self.cast.policy], [c.memory_id for c in answer.conflicts])
        self._expect("the check writes nothing", 1.0, self._trust(self.cast.policy))
        if not self.quiet:
            draw.conflicts(self.out, answer.conflicts, would=True)
            self.out.line((f"  compared with {answer.candidates_checked} memories; nothing was written", "dim"))

    def write(self) -> None:
        """1.0 to 0.6, 0.85 and 0.70."""
        self._command("remember", OPPOSITE, f"--entity {ENTITY}")
        answer = self.client.remember(OPPOSITE, self.scope, [ENTITY])
        self.cast.opposite = answer.memory_id
        policy = [(c.before_trust, c.after_trust) for c in answer.conflicts if c.memory_id == self.cast.policy]
        self._expect("the policy falls by 0.40", [(1.0, 0.6)], policy)
        decays = {d.memory_id: d for d in answer.decayed}
        for name, memory_id, hop, after in (("checklist", self.cast.checklist, 1, 0.85), ("runbook", self.cast.runbook, 2, 0.70)):
            fell = decays.get(memory_id)
            found = (fell.hop, fell.before_trust, fell.after_trust) if fell else ()
            self._expect(f"the {name} falls as a dependent at hop {hop}", (hop, 1.0, after), found)
            self._expect(f"trust of the {name} afterwards", after, self._trust(memory_id))
        self._expect("trust of the new claim", 1.0, answer.trust_score)
        if not self.quiet:
            new = draw.Node(answer.memory_id, OPPOSITE, answer.trust_score, answer.trust_score, "new")
            draw.tree(self.out, [new])
            self.out.line(f"   {self.out.signs.down} ", ("contradicts", "yellow"))
        self._draw_chain(
            [1.0, 1.0, 1.0], [self._trust(i) for i in (self.cast.policy, self.cast.checklist, self.cast.runbook)], spread=True
        )

    def find(self) -> None:
        """The newest first at trust 1.0, the older at 0.6."""
        self._command("recall", KNOWN_QUESTION, f"--entity {ENTITY}")
        answer = self.client.recall(KNOWN_QUESTION, self.scope, [ENTITY])
        found = [(hit.memory_id, round(hit.trust_score, 4), hit.contested) for hit in answer.memories]
        self._expect(
            "recall gives both sides, the newest first", [(self.cast.opposite, 1.0, True), (self.cast.policy, 0.6, True)], found
        )
        if not self.quiet:
            draw.recalled(self.out, answer)

    def revise(self) -> None:
        """A runtime fact and its successor, on a dated timeline."""
        old = self.client.remember(RUNTIME_OLD, self.scope, ["gateway"], valid_from=RUNTIME_SINCE[0])
        new = self.client.revise(old.memory_id, RUNTIME_NEW, self.scope, reason="upgraded", valid_from=RUNTIME_SINCE[1])
        self._command("remember", RUNTIME_OLD, f"--entity gateway --valid-from {RUNTIME_SINCE[0]}")
        self._command("revise <id>", RUNTIME_NEW, f"--reason upgraded --valid-from {RUNTIME_SINCE[1]}")
        self._command("timeline", "", f"--memory {new.memory_id}")
        answer = self.client.timeline(self.scope, memory_id=new.memory_id)
        dates = [(_day(fact.valid_from), _day(fact.valid_to), fact.status.value) for fact in answer.facts]
        self._expect("the timeline is dated", [(*RUNTIME_SINCE, "superseded"), (RUNTIME_SINCE[1], "", "active")], dates)
        self._expect("the old version keeps its trust", 1.0, self._trust(old.memory_id))
        past = self.client.recall("gateway Python", self.scope, ["gateway"], as_of="2026-03-01")
        self._expect("in March the old version held", [RUNTIME_OLD], [hit.content for hit in past.memories])
        if not self.quiet:
            draw.timeline(self.out, answer)

    def trace(self) -> None:
        """From the runbook up to the policy and the claim against it."""
        self._command("trace", "", "<runbook>")
        answer = self.client.trace_memory(self.cast.runbook, self.scope)
        seen = {vertex.id for path in answer.paths for vertex in path.vertices}
        chain = {self.cast.runbook, self.cast.checklist, self.cast.policy, self.cast.opposite}
        self._expect("the trace reaches the policy and the claim against it", True, chain <= seen)  # noqa: FBT003 - a value
        if not self.quiet:
            draw.trace(self.out, answer)

    def explain(self) -> None:
        """Trust in words."""
        self._command("explain", "", "<runbook>")
        answer = self.client.explain_trust(self.cast.runbook, self.scope)
        self._expect("the explanation has one standing drop of 0.30", [0.3], [round(d.amount, 4) for d in answer.standing_drops])
        self._expect("the explanation names the cause", [self.cast.opposite], [d.caused_by for d in answer.standing_drops])
        if not self.quiet:
            draw.explanation(self.out, answer, RUNBOOK)

    def dismiss(self) -> None:
        """The contradiction is dismissed, and everything is as before."""
        before = [self._trust(i) for i in (self.cast.policy, self.cast.checklist, self.cast.runbook)]
        reason = "that sentence was about the staging cluster"
        self._command("resolve", "", f'<opposite> <policy> dismissed --reason "{reason}"')
        answer = self.client.resolve_conflict(self.cast.opposite, self.cast.policy, m.Verdict.DISMISSED, reason, self.scope)
        after = [self._trust(i) for i in (self.cast.policy, self.cast.checklist, self.cast.runbook)]
        self._expect("three drops were withdrawn", 3, len(answer.withdrawn))
        self._expect("every number is back", [1.0, 1.0, 1.0], after)
        status = self.client.get_memory(self.cast.policy, self.scope).memory.status
        self._expect("the policy is active again", "active", status.value)
        self._draw_chain(before, after, spread=True)

    def abstain(self) -> None:
        """No evidence, no answer."""
        self._command("recall", UNKNOWN_QUESTION, "")
        answer = self.client.recall(UNKNOWN_QUESTION, self.scope)
        self._expect("recall abstains", (True, 0), (answer.abstained, len(answer.memories)))
        self._expect("it says why", True, bool(answer.reason))  # noqa: FBT003 - a value
        if not self.quiet:
            draw.recalled(self.out, answer)

    # -- helpers

    def _trust(self, memory_id: str) -> float:
        return round(self.client.get_memory(memory_id, self.scope).memory.trust_score, 4)

    def _expect(self, what: str, expected: object, found: object) -> None:
        self.checks.append(Check(what, repr(expected), repr(found)))

    def _command(self, name: str, text: str, rest: str) -> None:
        if not self.quiet:
            words = " ".join(filter(None, (f"$ hydramind {name}", f'"{text}"' if text else "", rest)))
            self.out.line((words, "dim"))

    def _draw_chain(self, before: Sequence[float], after: Sequence[float], *, spread: bool = False) -> None:
        if self.quiet:
            return
        notes = ("contradicted" if after[0] < 1 else "", "hop 1", "hop 2") if spread else ("", "", "")
        runbook = draw.Node(self.cast.runbook, RUNBOOK, before[2], after[2], notes[2])
        checklist = draw.Node(self.cast.checklist, CHECKLIST, before[1], after[1], notes[1], (runbook,))
        draw.tree(self.out, [draw.Node(self.cast.policy, POLICY, before[0], after[0], notes[0], (checklist,))])


def tell(*, home: str = "", socket: str = "", keep: bool = False, as_json: bool = False) -> int:
    """Tell the story; answers the exit code: 1 when a number was wrong.

    Without `home` and `socket` it runs on a throw-away home with a daemon of its own; both are gone afterwards unless `keep`.
    """
    out = Output(as_json=as_json)
    with _stage(home, socket, keep=keep, out=out) as client:
        story = Story(client, out, f"story-{uuid.uuid4().hex[:6]}", quiet=as_json)
        if not as_json:
            out.title("HydraMind: memory that knows when it may be wrong")
            info = client.get_server_info()
            out.line((f"daemon {info.version}, pid {info.pid}, scope {story.scope}", "dim"))
        story.tell()
        if home or socket:
            _clear(story, keep=keep)
    return _verdict(out, story.checks)


def _verdict(out: Output, checks: Sequence[Check]) -> int:
    wrong = [check for check in checks if not check.ok]
    if out.as_json:
        shown: JsonObject = {"ok": not wrong, "checks": [_check_json(check) for check in checks]}
        out.json(shown)
    else:
        out.line()
        for check in wrong:
            out.line((f"{out.signs.bad} {check.what}: ", "red"), f"expected {check.expected}, got {check.found}")
        if not wrong:
            out.line((f"{out.signs.ok} all {len(checks)} promises of this story were checked and held", "bold green"))
    return ExitCode.FAILED if wrong else ExitCode.OK


def _check_json(check: Check) -> JsonObject:
    return {"what": check.what, "ok": check.ok, "expected": check.expected, "found": check.found}


@contextmanager
def _stage(home: str, socket: str, *, keep: bool, out: Output) -> Iterator[Client]:
    """A client of the daemon that the story is told to; what was started for it is stopped again."""
    given = bool(home or socket)
    place = home if given else tempfile.mkdtemp(prefix="hydramind-demo-")
    environ = dict(os.environ) if given else _clean_environment(place)
    was_running = given and spawn.listening(spawn.plan(environ, home, socket).addresses.socket)
    try:
        with Client(home=place, socket=socket, environ=environ, timeout_s=20.0) as client:
            try:
                yield client
            finally:
                if not keep and not was_running:
                    _stop(client)
    finally:
        if not keep and not given:
            shutil.rmtree(place, ignore_errors=True)
    if keep and not given and not out.as_json:
        out.line(
            (f"kept: HYDRAMIND_HOME={place} hydramind scopes   (stop it: HYDRAMIND_HOME={place} hydramind daemon stop)", "dim")
        )


def _clean_environment(home: str) -> Mapping[str, str]:
    """The environment without anybody's settings: the story's numbers are those of the defaults."""
    settings_file = Path(home) / "config.toml"
    settings_file.touch()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HYDRAMIND_")}
    return {**kept, "HYDRAMIND_HOME": home, "HYDRAMIND_CONFIG": str(settings_file)}


def _stop(client: Client) -> None:
    """Stop the daemon and wait until it is gone, so that its home can be removed."""
    if not spawn.listening(client.socket):
        return
    pid = client.drain(1).pid
    until = time.monotonic() + _STOP_S
    while process_runs(pid) and time.monotonic() < until:
        time.sleep(0.02)


def _clear(story: Story, *, keep: bool) -> None:
    """Leave nothing of the story behind in somebody's store, ids excepted."""
    if keep:
        return
    ids = [memory.memory_id for memory in story.client.list_memories(story.scope, list(m.Status)[:3], limit=100).memories]
    if ids:
        story.client.purge(ids, story.scope, "the story is over")


def _day(moment: object) -> str:
    return str(moment)[:10] if moment else ""
