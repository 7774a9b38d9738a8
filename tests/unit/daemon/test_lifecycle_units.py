"""Units: what they promise must fit what the daemon does."""

import configparser
import plistlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hydramind import settings
from hydramind.local import UNIT_NAME
from hydramind_daemon.main import parser
from hydramind_daemon.systemd import NOT_RESTARTED, UnitKind, render_unit

PYTHON = "/opt/hydramind/bin/python"


def service(kind: str, executable: str = PYTHON) -> dict[str, str]:
    text = render_unit(kind, executable)
    read = configparser.RawConfigParser(strict=False, allow_no_value=True)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read_string(text)
    return dict(read["Service"])


@pytest.mark.parametrize("kind", ["user", "system"])
def test_unit_waits_longer_than_the_longest_drain_and_restarts_only_what_a_restart_can_mend(kind: str) -> None:
    unit = service(kind)
    assert int(unit["TimeoutStopSec"]) > settings.SPECS["daemon.drain_s"].high
    assert unit["RestartPreventExitStatus"].split() == [str(int(code)) for code in NOT_RESTARTED]
    assert (unit["Type"], unit["UMask"], unit["NoNewPrivileges"]) == ("notify", "0077", "yes")
    assert "WatchdogSec" in unit


@pytest.mark.parametrize("kind", list(UnitKind))
def test_command_line_in_every_unit_is_one_that_the_daemon_takes(kind: UnitKind) -> None:
    text = render_unit(kind, PYTHON)
    words = plistlib.loads(text.encode())["ProgramArguments"] if kind is UnitKind.LAUNCHD else service(kind)["ExecStart"].split()
    assert words[:3] == [PYTHON, "-m", "hydramind_daemon"]
    assert parser().parse_args(words[3:]).managed


@pytest.mark.parametrize("kind", list(UnitKind))
def test_no_mark_of_the_template_is_left(kind: UnitKind) -> None:
    assert not re.search(r"@[A-Z_]+@", render_unit(kind, PYTHON, user="u", log_file="/l"))


def test_paths_that_a_unit_would_read_as_something_else_are_quoted() -> None:
    assert service("user", "/opt/my env/100%/python")["ExecStart"].startswith('"/opt/my env/100%%/python" -m ')
    assert service("user", "/a$b")["ExecStart"].startswith('"/a$$b" ')
    odd = plistlib.loads(render_unit("launchd", "/a&b<c/python", log_file="/x&y").encode())
    assert (odd["ProgramArguments"][0], odd["StandardErrorPath"]) == ("/a&b<c/python", "/x&y")


@pytest.mark.parametrize(
    ("executable", "user"), [("python", "u"), ("/a\nExecStartPost=/bin/evil", "u"), ('/a"b', "u"), ("/a", "u\nx")]
)
def test_text_that_would_change_the_meaning_of_a_unit_is_refused(executable: str, user: str) -> None:
    with pytest.raises(ValueError, match=r"cannot hold|absolute"):
        render_unit("system", executable, user=user)


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="upstart"):
        render_unit("upstart", PYTHON)


def test_installation_in_a_home_stays_readable_for_the_system_unit() -> None:
    assert service("system", "/home/ada/venv/bin/python")["ProtectHome"] == "read-only"
    assert service("system")["ProtectHome"] == "yes"


def test_printed_unit_is_for_the_installation_that_prints_it() -> None:
    command = [sys.executable, "-m", "hydramind_daemon.systemd", "user"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == render_unit("user", sys.executable)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_system_unit_is_exposed_no_more_than_promised(tmp_path: Path) -> None:
    path = tmp_path / UNIT_NAME
    path.write_text(render_unit("system", PYTHON))
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=15", str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-300:] + done.stderr


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("kind", ["user", "system"])
def test_systemd_finds_nothing_wrong_with_the_units(tmp_path: Path, kind: str) -> None:
    path = tmp_path / UNIT_NAME
    path.write_text(render_unit(kind, sys.executable))
    done = subprocess.run(["systemd-analyze", "verify", str(path)], capture_output=True, text=True, check=False)
    assert [line for line in done.stderr.splitlines() if UNIT_NAME in line] == []
