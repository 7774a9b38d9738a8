"""What shim and host say to each other, in the few bytes of code that a shim can afford to load.

One message a line in both directions, as MCP's stdio transport has it; before the first line the shim sends one hello,
four bytes of length (big-endian) and that many bytes of JSON.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HELLO_VERSION = 1
"""Version of the hello; a host refuses a shim whose hello it does not know."""

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Longest message in either direction; the same as the longest gRPC message."""

MAX_HELLO_BYTES = 1024 * 1024
"""Longest hello."""

REFUSED = "hydramind/refused"
"""Method of the one notification that a host sends to a shim it will not serve; it never reaches the agent."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

MODERN_KEY = "io.modelcontextprotocol/protocolVersion"
"""Key in `_meta` that opens the sessionless era."""

CLIENT_KEYS = ("io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities")
"""Keys that a request of the sessionless era carries beside its version."""

READ_METHODS = frozenset(
    {
        "initialize",
        "ping",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "server/discover",
        "tools/list",
    },
)
"""Methods that change nothing, so that calling again is always safe."""

WRITE_TOOLS = frozenset({"remember", "revise", "forget", "resolve_conflict"})
"""Tools that may have changed something when their answer was lost."""

KEYED_TOOLS = frozenset({"remember", "revise"})
"""Tools with an `idempotency_key` argument."""

ENVIRONMENT = (
    "HYDRAMIND_HOME",
    "HYDRAMIND_SOCKET",
    "HYDRAMIND_SCOPE",
    "HYDRAMIND_CONFIG",
    "HYDRAMIND_NO_SPAWN",
)
"""Names that the hello tells the host; none of them is a secret."""

_SPACE = " \t\r\n"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _make_scanner() -> "tuple[Callable[[str, int], tuple[object, int]], Callable[[str], str]]":
    """The C halves of `json`, without `re` and `enum`, which would double a shim's start."""
    try:
        from _json import encode_basestring_ascii, make_scanner
    except ImportError:
        import json

        decoder = json.JSONDecoder(parse_constant=_refuse_constant)
        return decoder.raw_decode, json.dumps
    # Reason: the stub wants a scanner where the function takes a decoder.
    return make_scanner(_ScannerSettings), encode_basestring_ascii  # type: ignore[arg-type]


class _ScannerSettings:
    """What the scanner reads off a decoder: plain JSON, nothing hooked."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = staticmethod(_refuse_constant)
    memo: "dict[str, str]" = {}  # noqa: RUF012 - the C scanner wants the attribute, and clears it itself


_scan, _quote = _make_scanner()


def parse(data: bytes) -> object:
    """The JSON value in `data`; `ValueError` when it is not exactly one."""
    text = data.decode().strip(_SPACE)
    try:
        value, end = _scan(text, 0)
    except (StopIteration, RecursionError, SystemError) as error:
        # SystemError: the C scanner looks for its exception class in `json.decoder`, which nobody has loaded here.
        raise ValueError("not JSON") from error
    if end != len(text):
        raise ValueError("more than one JSON value")
    return value


def quote(text: str) -> str:
    """`text` as a JSON string, in ASCII."""
    return _quote(text)


def is_request_id(value: object) -> bool:
    """Whether MCP allows `value` as the id of a request."""
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def dump_id(request_id: object) -> str:
    """A request's id as JSON; `null` for anything that is no id."""
    if isinstance(request_id, str):
        return quote(request_id)
    return str(request_id) if is_request_id(request_id) else "null"


def error_line(request_id: object, code: int, message: str) -> bytes:
    """An error answer, with its line end."""
    return f'{{"jsonrpc":"2.0","id":{dump_id(request_id)},"error":{{"code":{code},"message":{quote(message)}}}}}\n'.encode()


def result_line(request_id: object, result: str) -> bytes:
    """An answer around `result`, which is JSON already, with its line end."""
    return f'{{"jsonrpc":"2.0","id":{dump_id(request_id)},"result":{result}}}\n'.encode()


def hello_frame(fields: "Mapping[str, object]") -> bytes:
    """The hello as bytes. Values are strings, integers, or mappings of strings."""
    body = _dump(fields).encode()
    return len(body).to_bytes(4, "big") + body


def _dump(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{quote(str(key))}:{_dump(item)}" for key, item in value.items()) + "}"
    return str(value) if isinstance(value, int) else quote(str(value))


def idempotency_key(session: str, request_id: object) -> str:
    """Key of a write that an agent sent without one, from its session and the request's JSON-RPC id.

    Shim and host derive it alike: when an answer is lost, the shim can name the key under which the write was sent.
    """
    return f"mcp-{session}-{dump_id(request_id)}"[:256]


def lost_answer(session: str, request_id: object, method: str, tool: str) -> str:
    """What an agent is told when the host went away before its request was answered."""
    if method != "tools/call" or tool not in WRITE_TOOLS:
        return "The memory host went away before it answered. Nothing was changed by this request: send it again."
    if tool in KEYED_TOOLS:
        key = idempotency_key(session, request_id)
        return (
            f"The memory host went away before it answered: {tool} may have run, or not. Call {tool} again with the same "
            f"arguments and idempotency_key {key} unless you had given a key of your own; then keep that one. It is "
            "stored once, whichever of the two happened."
        )
    return f"The memory host went away before it answered: {tool} may have run, or not. Call {tool} again; it is safe."
