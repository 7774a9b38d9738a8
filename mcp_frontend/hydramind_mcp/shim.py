"""The MCP server that an agent starts: a small process that pumps lines between its agent and the one warm MCP host.

It loads no SDK, no asyncio and no `json`, so that it starts at the price of the interpreter. It lives exactly as long as
its agent: until stdin ends or the parent is gone. When the host goes, it starts it again, says hello again, replays the
handshake of its session, and sends no request twice: one whose answer was lost is answered with an error that says
whether it may have run. Nothing but JSON-RPC reaches stdout.
"""

# Reason: pathlib and contextlib cost more than the whole pump.
# ruff: noqa: PTH123, SIM105

import os
import select
from time import monotonic

from hydramind import local
from hydramind_mcp import wire
from hydramind_mcp.link import DOWN, STARTING, UP, WAITING, Link, hello

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

READ_BYTES = 65536
"""Most that one read takes."""

QUEUE_BYTES = 1024 * 1024
"""What may wait for the host, or for the agent to read, before this shim stops reading the other side."""

EAGER_S = 300.0
"""How long after its last request a session is still thought active: then a lost host is started again at once."""

FAREWELL_S = 10.0
"""How long answers that are still due may take once stdin has ended, while somebody still reads stdout."""

PARENT_POLL_S = 2.0
"""How often the parent is looked at where the system does not tell of its death."""

_CHUNK = min(4096, select.PIPE_BUF)
"""What a descriptor takes without blocking once poll calls it writable."""

_PACKAGED = __file__.rpartition("/")[0] + "/opening.json"
"""Answers that the package brings, for the first start after an installation."""

_RECORDED = ("initialize", "tools/list", "server/discover")
"""Methods whose answers the host records in its manifest."""

_TOO_LONG = f"a message is at most {wire.MAX_LINE_BYTES // (1024 * 1024)} MiB long"


class Lines:
    """Cuts a byte stream into lines; a line over the limit is dropped and comes out as `None`, once."""

    __slots__ = ("_dropping", "_parts", "_size")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._dropping = False

    def feed(self, data: bytes) -> "list[bytes | None]":
        """The lines that `data` completes, without their ends."""
        *whole, rest = data.split(b"\n")
        lines: list[bytes | None] = []
        for piece in whole:
            self._add(piece)
            lines.append(None if self._dropping else b"".join(self._parts))
            self._parts, self._size, self._dropping = [], 0, False
        self._add(rest)
        return lines

    def rest(self) -> bytes:
        """What came after the last line end."""
        return b"".join(self._parts)

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > wire.MAX_LINE_BYTES:
            self._parts, self._dropping = [], True
        elif piece:
            self._parts.append(piece)


class Outbox:
    """Lines on their way into a descriptor, written whole lines at a time as far as the other side takes them."""

    __slots__ = ("_at", "lines", "size")

    def __init__(self) -> None:
        self.lines: list[tuple[bytes, object]] = []
        self.size = 0
        self._at = 0

    def put(self, line: bytes, tag: object = None) -> None:
        """Queue a line; `tag` comes back when its last byte has been taken."""
        self.lines.append((line, tag))
        self.size += len(line)

    def head(self, limit: int) -> bytes:
        """The next bytes to write."""
        return self.lines[0][0][self._at : self._at + limit]

    def wrote(self, count: int) -> object:
        """`count` bytes of the head were taken; gives its tag when that completed it."""
        self._at += count
        line, tag = self.lines[0]
        if self._at < len(line):
            return None
        self._at = 0
        self.size -= len(line)
        del self.lines[0]
        return tag

    def rewind(self) -> None:
        """Forget that a part of the head was written: its reader is gone and never saw the line's end."""
        self._at = 0

    def clear(self) -> None:
        """Drop everything that waits."""
        self.lines, self.size, self._at = [], 0, 0


class Request:
    """A request that the agent waits for. `sent` once the host may have read the whole of it."""

    __slots__ = ("method", "params", "sent", "tool")

    def __init__(self, method: str, params: object) -> None:
        name = params.get("name") if isinstance(params, dict) else ""
        self.method = method
        self.tool = name if isinstance(name, str) else ""
        self.params = params if method in _RECORDED else None
        self.sent = False


class Shim:
    """One agent's session."""

    def __init__(self, addresses: local.Addresses, stdin: int = 0, stdout: int = 1) -> None:
        self.link = Link(addresses)
        self.stdin, self.stdout = stdin, stdout
        self.session = os.urandom(12).hex()
        self.build = ""
        self.pending: dict[object, Request] = {}
        self.to_host, self.to_agent = Outbox(), Outbox()
        self.from_agent, self.from_host = Lines(), Lines()
        self.opening: list[bytes] = []
        self.swallow: object = None
        self.swallowing = False
        self.greeting = False
        self.manifest: dict[str, Any] | None = None
        self.ended_at = 0.0
        self.last_request = 0.0
        self.parent = os.getppid()
        self.parent_fd = _watch(self.parent)

    def run(self) -> None:
        """Pump until the agent is gone. A shim that is never asked anything starts no host."""
        self.link.look()
        self._after_link()
        while not self._done():
            poller = select.poll()
            for fd, events in self._interests():
                poller.register(fd, events)
            for fd, event in poller.poll(self._timeout_ms()):
                if not self._on_event(fd, event):
                    return
            if self.link.state in (WAITING, STARTING) and monotonic() >= self.link.due:
                self.link.step()
                self._after_link()

    # -- the loop's parts

    def _done(self) -> bool:
        if self.ended_at:
            idle = not self.pending and not self.to_agent.lines and not self.to_host.lines
            return idle or monotonic() - self.ended_at > FAREWELL_S
        return self.parent > 1 and os.getppid() != self.parent

    def _interests(self) -> "list[tuple[int, int]]":
        roomy = self.to_agent.size < QUEUE_BYTES
        wanted = [(self.stdout, select.POLLOUT if self.to_agent.lines else 0)]
        if not self.ended_at and roomy and self.to_host.size < QUEUE_BYTES:
            wanted.append((self.stdin, select.POLLIN))
        if self.parent_fd >= 0:
            wanted.append((self.parent_fd, select.POLLIN))
        if self.link.state == UP and self.link.sock is not None:
            events = select.POLLIN if roomy else 0
            wanted.append((self.link.sock.fileno(), events | (select.POLLOUT if self.to_host.lines else 0)))
        elif self.link.state == STARTING:
            wanted.append((self.link.ready_fd, select.POLLIN))
        return wanted

    def _timeout_ms(self) -> "int | None":
        now = monotonic()
        waits = []
        if self.link.state in (WAITING, STARTING):
            waits.append(self.link.due - now)
        if self.ended_at:
            waits.append(self.ended_at + FAREWELL_S - now)
        if self.parent_fd < 0 and self.parent > 1:
            waits.append(PARENT_POLL_S)
        return max(0, int(min(waits) * 1000) + 1) if waits else None

    def _on_event(self, fd: int, event: int) -> bool:
        """Handle one event; false when the agent is gone."""
        if fd == self.stdin:
            self._read_agent()
            return True
        if fd == self.stdout:
            return self._write_agent(event)
        if fd == self.parent_fd:
            return False
        if self.link.state == STARTING and fd == self.link.ready_fd:
            self.link.on_ready_fd()
            if self.link.state == WAITING and monotonic() >= self.link.due:
                self.link.step()
            self._after_link()
        elif self.link.sock is not None and fd == self.link.sock.fileno():
            self._on_host(event)
        return True

    # -- the agent's side

    def _read_agent(self) -> None:
        data = os.read(self.stdin, READ_BYTES)
        for line in self.from_agent.feed(data):
            self._from_agent(line)
        if not data:
            self.ended_at = monotonic()
            if rest := self.from_agent.rest():
                self._from_agent(rest)

    def _write_agent(self, event: int) -> bool:
        if event & (select.POLLERR | select.POLLNVAL) or (event & select.POLLHUP and not event & select.POLLOUT):
            return False  # nobody reads stdout any more
        if event & select.POLLOUT and self.to_agent.lines:
            self.to_agent.wrote(os.write(self.stdout, self.to_agent.head(_CHUNK)))
        return True

    def _from_agent(self, line: "bytes | None") -> None:
        if line is None:
            self._refuse(wire.INVALID_REQUEST, _TOO_LONG)
            return
        if not line.strip():
            return
        try:
            message = wire.parse(line)
        except ValueError as error:
            self._refuse(wire.PARSE_ERROR, f"Parse error: a line must be one JSON message ({error})")
            return
        if not isinstance(message, dict):
            self._refuse(wire.INVALID_REQUEST, "a message must be a JSON object; batches are not part of MCP")
            return
        self._message(line + b"\n", message)

    def _message(self, line: bytes, message: "dict[str, object]") -> None:
        method = message.get("method")
        if not isinstance(method, str):
            self._answer_of_agent(line, message)
        elif "id" not in message:
            self._notification(line, method, message)
        elif not wire.is_request_id(message["id"]):
            self._refuse(wire.INVALID_REQUEST, "id: must be a string or an integer")
        else:
            self._request(line, method, message["id"], message.get("params"))

    def _answer_of_agent(self, line: bytes, message: "dict[str, object]") -> None:
        if "result" in message or "error" in message:
            if self.link.state == UP:  # the host that asked; any other would not know the question
                self.to_host.put(line)
        else:
            self._refuse(wire.INVALID_REQUEST, "method: must be a string", message.get("id"))

    def _refuse(self, code: int, message: str, request_id: object = None) -> None:
        self.to_agent.put(wire.error_line(request_id, code, message))

    def _notification(self, line: bytes, method: str, message: "dict[str, object]") -> None:
        if method == "notifications/initialized" and len(self.opening) == 1:
            self.opening.append(line)
            if self.link.state != UP:
                return  # goes out with the handshake
        elif method == "notifications/cancelled":
            params = message.get("params")
            request_id = params.get("requestId") if isinstance(params, dict) else None
            if wire.is_request_id(request_id):
                self.pending.pop(request_id, None)
        if self.link.state != DOWN:
            self.to_host.put(line)

    def _request(self, line: bytes, method: str, request_id: object, params: object) -> None:
        self.last_request = monotonic()
        handshake = method == "initialize"
        if handshake:
            self.opening = [line]
        known = "" if self.link.state == UP else self._known_answer(method, params)
        if known:
            self.to_agent.put(wire.result_line(request_id, known))
        else:
            self.pending[request_id] = Request(method, params)
            self.swallowing = self.swallowing and not handshake
            if not handshake or self.link.state == UP:
                self.to_host.put(line, request_id)
        self.link.want()
        self._after_link()

    def _build(self) -> str:
        if not self.build:
            self.build = local.build_id()
        return self.build

    def _known_answer(self, method: str, params: object) -> str:
        """The answer as the host recorded it for this very build, while no host is reached yet; empty when unknown."""
        if method not in _RECORDED or not isinstance(params, (dict, type(None))):
            return ""
        if self.manifest is None:
            own = _read_manifest(self.link.addresses.mcp_manifest, self._build())
            self.manifest = own or _read_manifest(_PACKAGED, "")
        try:
            texts, answers = self.manifest["texts"], self.manifest["answers"]
            return str(texts[answers[_era(method, params or {}, self.opening)][method]])
        except (KeyError, IndexError, TypeError):
            return ""

    # -- the host's side

    def _after_link(self) -> None:
        if self.link.state == UP and not self.greeting:
            self._greet()
        elif self.link.state == DOWN and self.link.failure:
            self._fail(self.link.failure)

    def _greet(self) -> None:
        """Hello, then the handshake of the session, ahead of what waits."""
        self.greeting = True
        self.from_host = Lines()
        waiting = self.to_host.lines
        self.to_host.clear()
        self.to_host.put(hello(self.session, self._build()))
        if self.opening:
            opened = wire.parse(self.opening[0])
            request_id = opened.get("id") if isinstance(opened, dict) else None
            # Already answered, from the manifest or by an earlier host: then the agent must not see it twice.
            self.swallowing, self.swallow = request_id not in self.pending, request_id
            self.to_host.put(self.opening[0], request_id)
            for line in self.opening[1:]:
                self.to_host.put(line)
        for line, tag in waiting:
            self.to_host.put(line, tag)

    def _on_host(self, event: int) -> None:
        sock = self.link.sock
        try:
            if event & select.POLLOUT and self.to_host.lines and sock is not None:
                self._sent(self.to_host.wrote(sock.send(self.to_host.head(READ_BYTES))))
            if event & (select.POLLIN | select.POLLHUP | select.POLLERR) and sock is not None:
                data = sock.recv(READ_BYTES)
                for line in self.from_host.feed(data):
                    if line:
                        self._from_host(line)
                if not data:
                    self._host_lost()
        except BlockingIOError:
            pass
        except OSError:
            self._host_lost()

    def _sent(self, tag: object) -> None:
        request = self.pending.get(tag) if tag is not None else None
        if request is not None:
            request.sent = True

    def _from_host(self, line: bytes) -> None:
        try:
            message = wire.parse(line)
        except ValueError:
            _complain("the memory host sent a line that is not JSON; it was dropped")
            return
        if not isinstance(message, dict):
            return
        self.link.heard()
        if message.get("method") == wire.REFUSED:
            self._refused(message.get("params"))
        elif "method" in message or not self._swallowed(message):
            request_id = message.get("id")
            if "method" not in message and wire.is_request_id(request_id):
                self.pending.pop(request_id, None)
            self.to_agent.put(line + b"\n")

    def _swallowed(self, message: "dict[str, object]") -> bool:
        if not self.swallowing or message.get("id") != self.swallow:
            return False
        self.swallowing = False
        if "error" in message:
            _complain("the memory host refused the replayed handshake")
        return True

    def _refused(self, params: object) -> None:
        message = params.get("message") if isinstance(params, dict) else None
        self.link.lost()
        self.greeting = False
        for request in self.pending.values():
            request.sent = False  # whoever refuses a session runs nothing of it
        self._fail(message if isinstance(message, str) else "the memory host refused this session")

    def _host_lost(self) -> None:
        """Answer what was lost, keep what was not sent, and come back."""
        self.link.lost()
        self.greeting = self.swallowing = False
        self.to_host.rewind()
        for request_id, request in list(self.pending.items()):
            if request.sent:
                self._answer_lost(request_id, request)
        keep = [(line, tag) for line, tag in self.to_host.lines if tag in self.pending and not self._is_opening(line)]
        self.to_host.clear()
        for line, tag in keep:
            self.to_host.put(line, tag)
        if self.pending or (self.last_request and monotonic() - self.last_request < EAGER_S and not self.ended_at):
            self.link.retry()

    def _answer_lost(self, request_id: object, request: Request) -> None:
        request.sent = False
        if request.method == "initialize":
            return  # the handshake is replayed, and its answer then goes to the agent
        del self.pending[request_id]
        known = self._known_answer(request.method, request.params)
        if known:
            self.to_agent.put(wire.result_line(request_id, known))
            return
        text = wire.lost_answer(self.session, request_id, request.method, request.tool)
        self.to_agent.put(wire.error_line(request_id, wire.INTERNAL_ERROR, text))

    def _is_opening(self, line: bytes) -> bool:
        return line in self.opening

    def _fail(self, why: str) -> None:
        """No host to be had: everything that waits is answered, so that no agent hangs."""
        for request_id, request in self.pending.items():
            text = f"The memory is not available: {why}. Nothing was changed; try again later, or see `hydramind status`."
            if request.sent:
                text = wire.lost_answer(self.session, request_id, request.method, request.tool)
            self.to_agent.put(wire.error_line(request_id, wire.INTERNAL_ERROR, text))
        if self.pending:
            _complain(why)
        self.pending.clear()
        self.to_host.clear()
        self.link.failure = ""


def _era(method: str, params: "dict[str, object]", opening: "list[bytes]") -> str:
    """The protocol version that a request asks for; empty when it is not plainly one of the two forms."""
    meta = params.get("_meta")
    if isinstance(meta, dict) and wire.MODERN_KEY in meta:
        version = meta[wire.MODERN_KEY] if all(isinstance(meta.get(key), dict) for key in wire.CLIENT_KEYS) else ""
    elif method == "initialize":
        version = params.get("protocolVersion", "")
        if not isinstance(params.get("capabilities"), dict) or not isinstance(params.get("clientInfo"), dict):
            version = ""
    elif opening:
        opened = wire.parse(opening[0])
        asked = opened.get("params") if isinstance(opened, dict) else None
        version = asked.get("protocolVersion", "") if isinstance(asked, dict) else ""
    else:
        version = ""
    return version if isinstance(version, str) else ""


def _read_manifest(path: str, build: str) -> "dict[str, Any]":
    """Recorded answers, as `manifest.render` writes them; empty unless they are of this very build."""
    try:
        with open(path, "rb") as file:
            found = wire.parse(file.read(4 * 1024 * 1024))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and found.get("build") == build else {}


def _watch(pid: int) -> int:
    """A descriptor that becomes readable when `pid` has ended; -1 where the system has none."""
    try:
        return os.pidfd_open(pid) if pid > 1 else -1
    except (AttributeError, OSError):
        return -1


def _complain(text: str) -> None:
    try:
        os.write(2, f"hydramind mcp: {text}\n".encode("utf-8", "replace"))
    except OSError:
        pass


def main() -> None:
    """Serve one agent on stdin and stdout, until it is gone. Does not return."""
    code = 0
    try:
        Shim(local.addresses()).run()
    except BrokenPipeError:
        pass  # the agent closed its end while we wrote
    except KeyboardInterrupt:
        code = 130
    except Exception as error:  # noqa: BLE001 - the outermost frame
        _complain(f"stopped by a fault: {type(error).__name__}: {error}")
        code = 70
    os._exit(code)  # nothing is buffered here; the interpreter's own farewell would cost milliseconds


if __name__ == "__main__":
    main()
