"""Logs: form, level, and what must never appear in them."""

import io
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from hydramind_daemon import logs


@pytest.fixture(autouse=True)
def _restore_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_json_lines_have_time_level_event_and_fields() -> None:
    out = io.StringIO()
    logs.configure("info", "json", {}, out)
    structlog.get_logger().info("started", pid=3)
    (line,) = lines(out)
    assert (line["event"], line["level"], line["pid"]) == ("started", "info", 3)
    assert str(line["timestamp"]).endswith("Z")


def test_level_drops_lines_and_can_change_while_running() -> None:
    out = io.StringIO()
    level = logs.configure("warning", "json", {}, out)
    structlog.get_logger().info("one")
    structlog.get_logger().error("two")
    level.set("debug")
    structlog.get_logger().debug("three")
    assert [line["event"] for line in lines(out)] == ["two", "three"]


@pytest.mark.parametrize("key", ["content", "query", "text", "label"])
def test_memory_content_appears_at_debug_only(key: str) -> None:
    out = io.StringIO()
    logs.configure("debug", "json", {}, out)
    secret_plan = "Production deploys use direct routing."
    for method in ("info", "warning", "error"):
        getattr(structlog.get_logger(), method)("event", **{key: secret_plan})
    assert secret_plan not in out.getvalue()
    structlog.get_logger().debug("event", **{key: secret_plan})
    assert secret_plan in out.getvalue()


@pytest.mark.parametrize("key", ["token", "HYDRAMIND_TOKEN", "api_key", "password", "Authorization"])
def test_secrets_appear_at_no_level(key: str) -> None:
    out = io.StringIO()
    logs.configure("debug", "json", {}, out)
    structlog.get_logger().debug("event", **{key: "hm_s3cr3t"})
    structlog.get_logger().error("event", **{key: "hm_s3cr3t"})
    assert "hm_s3cr3t" not in out.getvalue()


def test_lines_of_libraries_come_out_in_the_same_form() -> None:
    out = io.StringIO()
    logs.configure("info", "json", {}, out)
    logging.getLogger("grpc").warning("odd %s", "thing")
    logging.getLogger("grpc").debug("noise")
    logging.getLogger("asyncio").error("task failed", exc_info=KeyError("x"))
    first, second = lines(out)
    assert (first["event"], first["logger"], first["level"]) == ("odd thing", "grpc", "warning")
    assert "KeyError" in str(second["exception"])


def test_exceptions_that_are_logged_come_with_their_traceback() -> None:
    out = io.StringIO()
    logs.configure("info", "json", {}, out)
    try:
        _fails()
    except KeyError:
        structlog.get_logger().exception("failed")
    (line,) = lines(out)
    assert (line["level"], "in _fails" in str(line["exception"])) == ("error", True)


def _fails() -> None:
    raise KeyError("x")


def test_configuring_twice_does_not_double_lines_of_libraries() -> None:
    out = io.StringIO()
    logs.configure("info", "json", {}, out)
    logs.configure("info", "json", {}, out)
    logging.getLogger("grpc").warning("once")
    assert len(lines(out)) == 1


def test_journal_lines_carry_the_priority_on_every_line() -> None:
    out = io.StringIO()
    logs.configure("info", "journal", {}, out)
    structlog.get_logger().error("failed", detail="x")
    structlog.get_logger().info("fine")
    first, second = out.getvalue().splitlines()
    assert first.startswith("<3>event='failed'")
    assert second.startswith("<6>event='fine'")


def test_inherited_journal_variable_counts_only_if_it_names_this_stream() -> None:
    with Path(os.devnull).open("w") as stream:
        info = os.fstat(stream.fileno())
        mine = {"JOURNAL_STREAM": f"{info.st_dev}:{info.st_ino}"}
        assert logs.choose_format("auto", mine, stream) == "journal"
        assert logs.choose_format("auto", {"JOURNAL_STREAM": "1:2"}, stream) == "json"
        assert logs.choose_format("console", mine, stream) == "console"


def test_console_form_without_a_terminal_has_no_colour_codes() -> None:
    out = io.StringIO()
    logs.configure("info", "console", {}, out)
    structlog.get_logger().info("started", pid=3)
    assert "started" in out.getvalue()
    assert "\x1b" not in out.getvalue()
