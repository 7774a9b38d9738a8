"""The gates of the conflict classifier on the evaluation data, where that is present."""

from pathlib import Path

import pytest

from benchmarks.conflicts import GATED, data_folder, measure_pairs, measure_turns, pairs, pooled

pytestmark = [pytest.mark.evaluation, pytest.mark.timeout(300)]


@pytest.fixture
def folder() -> Path:
    path = data_folder()
    if not (path / "breaking_nli_half.jsonl").is_file():
        pytest.skip(f"no evaluation data in {path}; set HYDRAMIND_EVAL_DATA")
    return path


def test_contradictions_of_breaking_nli_are_seen_with_few_false_alarms(folder: Path):
    tallies = measure_pairs(pairs(folder / "breaking_nli_half.jsonl"))
    figures = pooled(tallies, GATED).figures()
    assert figures["precision"] >= 0.95
    assert figures["recall"] >= 0.5
    for name in GATED:
        assert tallies[name].figures()["recall"] >= 0.5
    assert tallies["synonyms"].false == 0


def test_conversations_raise_at_most_five_flags_per_thousand_turns(folder: Path):
    measured = measure_turns(folder / "locomo_half.json")
    assert float(str(measured["flags_per_1000"])) <= 5.0
