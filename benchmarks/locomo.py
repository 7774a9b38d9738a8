"""LoCoMo: are the evidence turns found, and is the unanswerable left unanswered? `python -m benchmarks.locomo [--offline]`.

Each turn of a conversation is a memory in the conversation's scope, with the speaker as entity and the date as valid time. By
default everything goes through a real daemon on a throw-away home; `--offline` scores the same memories in this process.
The risk–coverage curves and BM25 are always computed offline, with the product's own scorers.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks._locomo_daemon import DaemonAsker
from benchmarks._locomo_data import Conversation, data_file, load
from benchmarks._locomo_eval import measure
from benchmarks._locomo_offline import Bm25, OfflineAsker, Ranker, ScorerRanker, with_speakers
from benchmarks._report import disk_folder, write_result
from hydramind_client import Client
from hydramind_client.errors import HydraMindError
from hydramind_domain.ranking import CoverageScorer, KeywordScorer, scorer

COVERAGE_AT = (0.12, 0.16, 0.20, 0.23, 0.25, 0.272, 0.29, 0.32, 0.36, 0.42)
OVERLAP_AT = (0.2, 0.34, 0.5, 0.6, 0.7, 0.8, 1.0)
BM25_AT = (0.0, 4.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0)
FIGURES = ("recall_at_10", "answered", "false_other_scope", "false_forgotten", "false_adversarial")


def by_daemon(conversations: Sequence[Conversation], name: str, folder: Path) -> dict[str, object]:
    """Import and ask through a daemon of its own, with the named scorer at its own threshold."""
    environ = {**os.environ, "HYDRAMIND_HOME": str(folder / name), "HYDRAMIND_RECALL_SCORER": name}
    environ.pop("HYDRAMIND_SOCKET", None)
    environ.pop("HYDRAMIND_SCOPE", None)
    with Client(environ=environ, timeout_s=60.0) as client:
        try:
            asker = DaemonAsker(client, conversations)
            memories = asker.tell()
            print(f"{name}: {memories} memories imported, {asker.conflicts} conflicts flagged", flush=True)
            return {"memories": memories, "conflicts_flagged": asker.conflicts, **measure(conversations, asker)}
        finally:
            with suppress(HydraMindError):
                client.drain()


def offline(conversations: Sequence[Conversation], ranker: Ranker) -> dict[str, object]:
    """Ask in this process."""
    return measure(conversations, OfflineAsker(conversations, ranker))


def curve(conversations: Sequence[Conversation], at: Sequence[float], make: Callable[[float], Ranker]) -> list[dict[str, object]]:
    """Risk against coverage: the figures at each threshold."""
    points: list[dict[str, object]] = []
    asker = OfflineAsker(conversations, make(at[0]))
    for threshold in at:
        asker.ranker = make(threshold)
        figures = measure(conversations, asker)
        points.append({"threshold": threshold, **{name: figures[name] for name in FIGURES}})
    return points


def curves(conversations: Sequence[Conversation]) -> dict[str, object]:
    """Curves of the three rankers: by score threshold, by keyword overlap, by best BM25 score."""
    return {
        "coverage": curve(conversations, COVERAGE_AT, lambda t: ScorerRanker(CoverageScorer(threshold=t))),
        "keyword": curve(conversations, OVERLAP_AT, lambda t: ScorerRanker(KeywordScorer(overlap=t))),
        "bm25": curve(with_speakers(conversations), BM25_AT, Bm25),
    }


def show(name: str, figures: dict[str, object]) -> None:
    """One line of figures."""
    print(f"{name:9}", *(f"{figure} {figures[figure]:.3f}" for figure in ("recall_at_5", *FIGURES, "recall_at_20")), flush=True)


def main() -> None:
    """Measure, print, and keep the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--offline", action="store_true", help="score in this process, without a daemon")
    parser.add_argument("--no-curves", action="store_true", help="leave the risk–coverage curves out")
    parser.add_argument("--dir", help="folder for the throw-away homes; must be on a disk")
    parser.add_argument("--output", help="file for the JSON result")
    args = parser.parse_args()
    if not data_file().is_file():
        raise SystemExit(f"{data_file()} is not there; set HYDRAMIND_EVAL_DATA to the folder that holds it")
    conversations = load(data_file())
    folder = disk_folder(args.dir)
    result: dict[str, object] = {"through": "process" if args.offline else "daemon"}
    try:
        for name in ("coverage", "keyword"):
            ranker = ScorerRanker(scorer(name))
            figures = offline(conversations, ranker) if args.offline else by_daemon(conversations, name, folder)
            show(name, figures)
            result[name] = figures
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    result["bm25"] = bm25 = offline(with_speakers(conversations), Bm25())
    show("bm25", bm25)
    if not args.no_curves:
        result["curves"] = curves(conversations)
    print(write_result("locomo_offline" if args.offline else "locomo", result, args.output))


if __name__ == "__main__":
    main()
