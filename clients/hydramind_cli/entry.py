"""Where `hydramind` begins. What must be quick is decided before anything else is loaded.

`hydramind` without arguments and without a terminal on stdin is an agent's call for the MCP server: then nothing but the shim
is imported. The version is told without any library.
"""

import os
import sys

from hydramind import local


def main() -> int:
    """Run the command line of this process; gives the exit code."""
    argv = sys.argv[1:]
    if argv == ["mcp"] or (not argv and not _terminal(0)):
        from hydramind_mcp.shim import main as serve

        serve()
        return 0
    if argv in (["--version"], ["version"]):
        sys.stdout.write(f"hydramind {local.version()}\n")
        return 0
    from hydramind_cli.app import run

    return run(argv)


def _terminal(fd: int) -> bool:
    try:
        return os.isatty(fd)
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
