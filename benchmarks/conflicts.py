"""Measure how well the built-in conflict classifier sees contradictions, and how often it cries wolf.

Run `python -m benchmarks.conflicts`. Three measurements, offline and without a daemon, from the evaluation data set
(`HYDRAMIND_EVAL_DATA`, default `../shared/data`):

- breaking NLI: precision and recall of "contradiction" by category (premise as the old claim, hypothesis as the new);
- negated MNLI: the same, printed only;
- LoCoMo: every turn remembered in order, one scope a conversation, the speaker as entity: flags per 1,000 turns.

The figures go to `benchmarks/results/conflicts.json` with the machine and the commit.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hydramind_domain.claims import Claim, analyse_claim
from hydramind_domain.conflict import BuiltinClassifier, Verdict
from hydramind_domain.entities import extract_entities, normalise_entity
from hydramind_domain.lexicon import pair_count

ROOT: Final = Path(__file__).resolve().parent.parent
GATED: Final = ("antonyms", "cardinals", "ordinals", "colors", "countries", "nationalities")
MAX_CANDIDATES: Final = 64


@dataclass(slots=True)
class Tally:
    """Counts of one category."""

    true: int = 0
    false: int = 0
    missed: int = 0
    quiet: int = 0

    def add(self, *, flagged: bool, contradiction: bool) -> None:
        """Count one pair."""
        if flagged:
            self.true += contradiction
            self.false += not contradiction
        else:
            self.missed += contradiction
            self.quiet += not contradiction

    def figures(self) -> dict[str, float | int]:
        """Precision, recall and the counts behind them."""
        flagged, wanted = self.true + self.false, self.true + self.missed
        return {
            "pairs": flagged + self.missed + self.quiet,
            "flagged": flagged,
            "wrong": self.false,
            "precision": round(self.true / flagged, 4) if flagged else 1.0,
            "recall": round(self.true / wanted, 4) if wanted else 1.0,
        }


@dataclass(slots=True)
class ScopeMemory:
    """The claims of one scope by entity and slot term, newest last: what a store's index answers."""

    claims: list[Claim] = field(default_factory=list)
    index: defaultdict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    known: set[str] = field(default_factory=set)

    def candidates(self, entities: set[str], claim: Claim) -> list[int]:
        """At most 64 positions, newest first, that share an entity and a slot term."""
        found = {at for entity in entities for slot in claim.slots for at in self.index.get((entity, slot), ())}
        return sorted(found, reverse=True)[:MAX_CANDIDATES]

    def remember(self, entities: set[str], claim: Claim) -> None:
        """Add a claim."""
        for entity in entities:
            for slot in claim.slots:
                self.index[entity, slot].append(len(self.claims))
        self.claims.append(claim)
        self.known |= entities


def data_folder() -> Path:
    """Where the evaluation data is."""
    return Path(os.environ.get("HYDRAMIND_EVAL_DATA", ROOT.parent / "shared" / "data"))


def pairs(path: Path) -> list[dict[str, str]]:
    """The rows of a JSON Lines file of pairs."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def judge(premise: str, hypothesis: str) -> Verdict | None:
    """The verdict on a pair, the premise being the older claim."""
    return BuiltinClassifier().classify(analyse_claim(hypothesis), analyse_claim(premise))


def measure_pairs(rows: list[dict[str, str]]) -> dict[str, Tally]:
    """Tallies by category."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    for row in rows:
        flagged = judge(row["premise"], row["hypothesis"]) is not None
        contradiction = row["label"] == "contradiction"
        tallies[row.get("category", "all")].add(flagged=flagged, contradiction=contradiction)
    return dict(tallies)


def pooled(tallies: dict[str, Tally], names: tuple[str, ...]) -> Tally:
    """The sum over some categories."""
    total = Tally()
    for name in names:
        part = tallies.get(name, Tally())
        total.true, total.false = total.true + part.true, total.false + part.false
        total.missed, total.quiet = total.missed + part.missed, total.quiet + part.quiet
    return total


def measure_turns(path: Path, *, verbose: bool = False) -> dict[str, float | int | dict[str, int]]:
    """Remember every turn in order; how many are flagged against an older one, and what a write's check costs."""
    classifier = BuiltinClassifier()
    codes: Counter[str] = Counter()
    turns = flagged = checked = 0
    analysing = classifying = 0.0
    for conversation in json.loads(path.read_text(encoding="utf-8")):
        memory = ScopeMemory()
        for turn in conversation["turns"]:
            begin = time.process_time()
            claim = analyse_claim(turn["text"])
            analysing += time.process_time() - begin
            names = {mention.norm for mention in extract_entities(turn["text"], memory.known)}
            entities = names | {normalise_entity(turn["speaker"])}
            candidates = [memory.claims[at] for at in memory.candidates(entities, claim)]
            begin = time.process_time()
            verdicts = [(old, v) for old in candidates if (v := classifier.classify(claim, old)) is not None]
            classifying += time.process_time() - begin
            memory.remember(entities, claim)
            turns, checked = turns + 1, checked + len(candidates)
            flagged += bool(verdicts)
            codes.update(verdict.reason_code for _old, verdict in verdicts)
            if verbose:
                for old, verdict in verdicts:
                    print(f"  {verdict.reason_code}: {verdict.reason}\n    new {claim.content}\n    old {old.content}")
    return {
        "turns": turns,
        "flagged_turns": flagged,
        "flags_per_1000": round(1000 * flagged / turns, 2),
        "verdicts_by_code": dict(codes),
        "candidates_checked": checked,
        "analyse_us_per_turn": round(1e6 * analysing / turns, 1),
        "classify_us_per_turn": round(1e6 * classifying / turns, 1),
        "classify_us_per_candidate": round(1e6 * classifying / max(checked, 1), 2),
    }


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "commit": commit.stdout.strip(),
    }


def main() -> int:
    """Measure, print, write the JSON; exit 1 when a gate is missed, 2 when there is no data."""
    folder = data_folder()
    if not (folder / "breaking_nli_half.jsonl").is_file():
        print(f"no evaluation data in {folder}; set HYDRAMIND_EVAL_DATA", file=sys.stderr)
        return 2
    breaking = measure_pairs(pairs(folder / "breaking_nli_half.jsonl"))
    negated = measure_pairs(pairs(folder / "negated_mnli_half.jsonl"))
    turns = measure_turns(folder / "locomo_half.json", verbose="--verbose" in sys.argv)
    gate = pooled(breaking, GATED).figures()
    whole = pooled(breaking, tuple(breaking)).figures()
    results = {
        "machine": machine(),
        "lexicon_pairs": pair_count(),
        "breaking_nli": {name: tally.figures() for name, tally in sorted(breaking.items())},
        "breaking_nli_gated": gate,
        "breaking_nli_all": whole,
        "negated_mnli": negated["all"].figures(),
        "locomo": turns,
    }
    rows = {name: tally.figures() for name, tally in sorted(breaking.items())}
    for name, row in {**rows, "GATED": gate, "ALL": whole, "negated MNLI": negated["all"].figures()}.items():
        counts = f"{row['pairs']:5} pairs  precision {row['precision']:.3f}  recall {row['recall']:.3f}  wrong {row['wrong']}"
        print(f"{name:18} {counts}")
    print(json.dumps(turns, indent=1))
    output = ROOT / "benchmarks" / "results" / "conflicts.json"
    output.parent.mkdir(exist_ok=True)
    output.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    flagged, count = int(str(turns["flagged_turns"])), int(str(turns["turns"]))
    reached = gate["precision"] >= 0.95 and gate["recall"] >= 0.5 and 1000 * flagged <= 5 * count
    print("gates reached" if reached else "gates missed")
    return 0 if reached else 1


if __name__ == "__main__":
    raise SystemExit(main())
