"""Do the tests notice when a rule is changed? Mutation testing of the rules of trust and conflict.

    python -m benchmarks.mutation [--group trust|conflict] [--sample N] [--children 2] [--output FILE]

Each mutant is the source with one small change; it is killed when a test fails. The aim is at least 80 % killed. The sources are
copied to a scratch folder in which `hydramind_domain` is a top-level package, as mutmut wants it.
"""

from __future__ import annotations

import argparse
import collections
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

from benchmarks._report import ROOT, ratio, write_result

GROUPS: dict[str, tuple[list[str], list[str]]] = {
    "trust": (
        ["trust.py", "cascade.py", "rules.py", "withdraw.py"],
        ["test_rules.py", "test_plans.py", "test_trust_properties.py"],
    ),
    "conflict": (
        ["conflict*.py", "values.py", "claims.py"],
        ["test_conflict*.py", "test_values*.py", "test_claims*.py"],
    ),
}
SEED = 20261201
_NOT_RUN = ("not checked", "no tests")
_KILLED = ("killed", "timeout", "segfault", "caught by type check")

# Tests over thousands of random histories would make hours of a run; the examples beside them do the killing.
_SKIP = (
    "not ten_thousand and not forgetting_every and not dismissing_every and not dismissing_what "
    "and not cascade_in_parts and not follow_from"
)

_CONFIG = """
[tool.mutmut]
source_paths = ["hydramind_domain"]
only_mutate = [{only}]
also_copy = ["tests"]
pytest_add_cli_args_test_selection = [{tests}]
pytest_add_cli_args = ["-x", "-q", "-k", "{skip}"]

[tool.pytest.ini_options]
addopts = "--import-mode=importlib -p no:cacheprovider"
pythonpath = ["."]
markers = ["integration: -", "slow: -", "evaluation: -"]
"""


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def stage(folder: Path, group: str) -> None:
    """Lay out the scratch project for a group."""
    sources, tests = GROUPS[group]
    shutil.copytree(ROOT / "daemon" / "hydramind_domain", folder / "hydramind_domain")
    for part in ("fakes", "unit/domain"):
        shutil.copytree(ROOT / "tests" / part, folder / "tests" / part)
    home = ROOT / "tests" / "unit" / "domain"
    chosen = [f"tests/unit/domain/{path.name}" for pattern in tests for path in sorted(home.glob(pattern))]
    only = [f"hydramind_domain/{name}" for name in sources]
    (folder / "pyproject.toml").write_text(_CONFIG.format(only=_quoted(only), tests=_quoted(chosen), skip=_SKIP))


def survivors(folder: Path) -> tuple[collections.Counter[str], list[str]]:
    """How many mutants ended how, and the names of those that no test noticed."""
    out = subprocess.run(
        [sys.executable, "-m", "mutmut", "results", "--all", "true"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    ends: collections.Counter[str] = collections.Counter()
    alive = []
    for line in out.splitlines():
        name, _, end = line.strip().rpartition(": ")
        if name:
            ends[end] += 1
            if end == "survived":
                alive.append(name)
    return ends, alive


def _names(folder: Path, log: IO[bytes]) -> list[str]:
    """All mutants, made but not run: a name that no mutant has selects none."""
    subprocess.run([sys.executable, "-m", "mutmut", "run", "no.such.mutant"], cwd=folder, stdout=log, stderr=log, check=False)
    out = subprocess.run(
        [sys.executable, "-m", "mutmut", "results", "--all", "true"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    return sorted(line.strip().rpartition(": ")[0] for line in out.splitlines() if "__mutmut_" in line)


def measure(group: str, children: int, sample: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="hydramind-mutants-") as name:
        folder = Path(name)
        stage(folder, group)
        log = folder / "mutmut.log"
        chosen: list[str] = []
        with log.open("wb") as out:
            if sample:
                names = _names(folder, out)
                chosen = random.Random(SEED).sample(names, min(sample, len(names)))
            subprocess.run(
                [sys.executable, "-m", "mutmut", "run", "--max-children", str(children), *chosen],
                cwd=folder, stdout=out, stderr=out, check=False,
            )  # fmt: skip
        ends, alive = survivors(folder)
        if not ends:
            raise SystemExit(log.read_text(errors="replace")[-2_000:])
    made = sum(ends.values())
    if sample:
        ends = collections.Counter({end: n for end, n in ends.items() if end not in _NOT_RUN})
    killed = sum(ends[end] for end in _KILLED)
    total = sum(ends.values())
    return {
        "mutants_made": made,
        "mutants": total,
        "killed": killed,
        "killed_share": ratio(killed, total),
        "ends": dict(ends),
        "survived": alive,
    }


def main() -> None:
    """Run the mutation tests of one group or of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", choices=sorted(GROUPS), action="append")
    parser.add_argument("--sample", type=int, default=0, help="run only so many, drawn by a fixed seed; 0: all")
    parser.add_argument("--children", type=int, default=2)
    parser.add_argument("--output", default=None)
    args = parser.parse_args()
    result: dict[str, object] = {}
    for group in args.group or sorted(GROUPS):
        result[group] = measured = measure(group, args.children, args.sample)
        print(f"{group}: {measured['killed']} of {measured['mutants']} killed ({measured['killed_share']})")
    print(f"written to {write_result('mutation', result, args.output)}")


if __name__ == "__main__":
    main()
