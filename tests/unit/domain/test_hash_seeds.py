"""What is derived from a text is the same in every process, whatever the seed of its hashes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROGRAM = """
import sys
from pathlib import Path
from hydramind_domain.entities import extract_entities, ngrams_to_look_up
from hydramind_domain.indexing import index_terms
for name in sys.argv[1:]:
    text = Path(name).read_text(encoding="utf-8")
    print(index_terms(text), extract_entities(text, ("daemon", "memory")), ngrams_to_look_up(text))
"""


def derived(seed: str, files: list[str]) -> str:
    path = os.pathsep.join(str(ROOT / part) for part in ("daemon", "proto"))
    environ = {"PYTHONHASHSEED": seed, "PYTHONPATH": path, "PATH": os.environ["PATH"]}
    return subprocess.run([sys.executable, "-c", PROGRAM, *files], env=environ, capture_output=True, text=True, check=True).stdout


def test_index_terms_slots_and_entities_do_not_depend_on_the_seed() -> None:
    files = [str(ROOT / name) for name in ("README.md", "docs/mcp.md", "docs/cli.md", "docs/dev/semantics.md")]
    first, *others = (derived(seed, files) for seed in ("1", "2", "3", "4"))
    assert first.strip()
    assert all(other == first for other in others)
