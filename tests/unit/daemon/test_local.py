"""Addresses: every process of an installation must come to the same ones."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from hydramind import local

ROOT = Path(__file__).parents[3]


def env_of(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(tmp_path / "user"), **more}


def test_explicit_home_holds_store_locks_and_socket(tmp_path: Path) -> None:
    found = local.addresses(env_of(tmp_path, HYDRAMIND_HOME=str(tmp_path / "h")))
    home = str(tmp_path / "h")
    assert found.home == home
    assert found.socket == f"{home}/run/daemon.sock"
    assert found.mcp_socket == f"{home}/run/mcp.sock"
    assert {str(Path(p).parent) for p in (found.instance_lock, found.spawn_lock, found.store_file)} == {home}


def test_flag_wins_over_environment_for_home_and_socket(tmp_path: Path) -> None:
    env = env_of(tmp_path, HYDRAMIND_HOME="/a", HYDRAMIND_SOCKET="/b/s.sock")
    found = local.addresses(env, home=str(tmp_path / "f"), socket=str(tmp_path / "x.sock"))
    assert (found.home, found.socket) == (str(tmp_path / "f"), str(tmp_path / "x.sock"))


def test_links_and_tilde_to_one_home_lead_to_the_same_addresses(tmp_path: Path) -> None:
    (tmp_path / "user" / "real").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "user" / "real")
    sockets = {
        local.addresses(env_of(tmp_path, HYDRAMIND_HOME=given)).socket
        for given in (str(tmp_path / "link"), "~/real", str(tmp_path / "user" / "." / "real") + "/")
    }
    assert len(sockets) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="XDG is for Linux")
def test_default_home_puts_the_socket_into_the_runtime_folder(tmp_path: Path) -> None:
    (tmp_path / "rt").mkdir()
    found = local.addresses(env_of(tmp_path, XDG_RUNTIME_DIR=str(tmp_path / "rt")))
    assert found.home == str(tmp_path / "user/.local/share/hydramind")
    assert found.socket == str(tmp_path / "rt/hydramind/daemon.sock")


@pytest.mark.skipif(sys.platform != "linux", reason="XDG is for Linux")
def test_default_home_given_explicitly_still_has_the_same_socket(tmp_path: Path) -> None:
    (tmp_path / "rt").mkdir()
    env = env_of(tmp_path, XDG_RUNTIME_DIR=str(tmp_path / "rt"))
    assert local.addresses(env, home=local.resolve_home(env)).socket == local.addresses(env).socket


def test_missing_or_relative_runtime_folder_is_ignored(tmp_path: Path) -> None:
    without = local.addresses(env_of(tmp_path)).socket
    for bad in (str(tmp_path / "gone"), "relative"):
        assert local.addresses(env_of(tmp_path, XDG_RUNTIME_DIR=bad)).socket == without


def test_folders_of_our_own_unit_are_used(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    env = env_of(
        tmp_path,
        STATE_DIRECTORY=f"{tmp_path}/other:{tmp_path}/lib/hydramind",
        RUNTIME_DIRECTORY=f"{tmp_path}/run/hydramind",
        CONFIGURATION_DIRECTORY="/etc/hydramind",
    )
    found = local.addresses(env)
    assert found.home == f"{tmp_path}/lib/hydramind"
    assert found.socket == f"{tmp_path}/run/hydramind/daemon.sock"
    assert found.config_dir == "/etc/hydramind"


def test_folders_of_a_unit_that_an_agent_happens_to_run_in_are_not_ours(tmp_path: Path) -> None:
    foreign = env_of(tmp_path, STATE_DIRECTORY="/var/lib/agent", CONFIGURATION_DIRECTORY="/etc/agent")
    assert local.addresses(foreign).home == local.addresses(env_of(tmp_path)).home
    assert local.config_dir(foreign) == local.config_dir(env_of(tmp_path))


def test_too_long_a_socket_path_becomes_a_short_hashed_one_that_depends_on_nothing_else(tmp_path: Path) -> None:
    deep = str(tmp_path / ("d" * 120))
    one = local.addresses(env_of(tmp_path, HYDRAMIND_HOME=deep))
    two = local.addresses(env_of(tmp_path, TMPDIR="/elsewhere"), home=deep)
    other = local.addresses(env_of(tmp_path, HYDRAMIND_HOME=deep + "e"))
    assert one.socket == two.socket != other.socket
    assert one.socket != one.mcp_socket
    assert len(one.socket.encode()) <= local.SOCKET_PATH_MAX


@pytest.mark.parametrize("length", [100, 101, 102, 103, 104, 105, 140])
def test_no_derived_socket_path_is_longer_than_the_kernel_takes(tmp_path: Path, length: int) -> None:
    home = "/" + "h" * (length - len("/run/daemon.sock") - 1)
    found = local.addresses(env_of(tmp_path), home=home)
    assert len(found.socket.encode()) <= local.SOCKET_PATH_MAX
    assert found.socket.startswith("/tmp/hydramind-") == (length > local.SOCKET_PATH_MAX)


def test_mcp_hosts_of_two_explicit_sockets_do_not_meet(tmp_path: Path) -> None:
    names = {
        local.addresses(env_of(tmp_path), home=str(tmp_path / "h"), socket=sock).mcp_socket
        for sock in ("", "/x/a.sock", "/x/b.sock")
    }
    assert len(names) == 3


def test_made_folders_are_private(tmp_path: Path) -> None:
    found = local.addresses(env_of(tmp_path), home=str(tmp_path / "a" / "h"))
    found.make_folders()
    for folder in (found.home, found.locks_dir, Path(found.socket).parent, Path(found.log_file).parent):
        assert Path(folder).stat().st_mode & 0o777 == 0o700
    found.make_folders()


def test_socket_folder_open_to_others_is_refused_with_the_remedy(tmp_path: Path) -> None:
    found = local.addresses(env_of(tmp_path), home=str(tmp_path / "h"))
    found.make_folders()
    Path(found.socket).parent.chmod(0o755)
    with pytest.raises(local.AddressError, match="chmod 700"):
        found.make_folders()


def test_link_in_place_of_the_socket_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    local.check_private(str(tmp_path / "real"))
    with pytest.raises(local.AddressError):
        local.check_private(str(tmp_path / "link"))


def test_holder_is_read_back_from_the_lock_file(tmp_path: Path) -> None:
    lock = tmp_path / "daemon.lock"
    assert local.read_holder(str(lock)) == (0, "")
    lock.write_text("")
    assert local.read_holder(str(lock)) == (0, "")
    lock.write_text("4711\n/run/x/daemon.sock\n")
    assert local.read_holder(str(lock)) == (4711, "/run/x/daemon.sock")


def test_grpc_target_escapes_what_a_uri_would_read_as_something_else() -> None:
    assert local.grpc_target("/a b/100%/x?y#z/d.sock") == "unix:/a%20b/100%25/x%3Fy%23z/d.sock"
    assert local.grpc_target("/plain/d.sock") == "unix:/plain/d.sock"


def test_version_is_the_projects() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert local.version() == project["version"]


def test_build_id_is_the_same_in_another_process_and_without_site_packages() -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'proto')!r}); import hydramind.local as l; print(l.build_id())"
    out = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    here = local.build_id()
    assert out.stdout.strip() == here
    assert here.startswith(local.VERSION + "+")


def test_build_id_changes_with_any_source_file_and_not_with_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "proto" / "hydramind"
    package.mkdir(parents=True)
    (tmp_path / "daemon" / "hydramind_daemon").mkdir(parents=True)
    source = tmp_path / "daemon" / "hydramind_daemon" / "x.py"
    source.write_text("a = 1\n")
    monkeypatch.setattr(local, "__file__", str(package / "local.py"))
    first = local.build_id()
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "local.pyc").write_text("cache")
    assert local.build_id() == first
    source.write_text("a = 12\n")
    assert local.build_id() != first


def test_importing_it_loads_nothing_that_a_shim_would_wait_for() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'proto')!r}); before = set(sys.modules); import hydramind.local as l;"
        "l.addresses(); l.build_id(); print(sorted(set(sys.modules) - before))"
    )
    out = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert set(eval(out.stdout)) <= {"hydramind", "hydramind.local", "_blake2", "os", "stat", "_stat", "posixpath",
                                     "genericpath", "_collections_abc", "pwd", "os.path"}  # fmt: skip
