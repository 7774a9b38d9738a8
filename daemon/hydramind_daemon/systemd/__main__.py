"""`python -m hydramind_daemon.systemd user|system|launchd` prints a unit for this very installation."""

import argparse
import sys

from hydramind_daemon.systemd import UnitKind, render_unit


def main() -> None:
    """Print the unit."""
    parser = argparse.ArgumentParser(prog="python -m hydramind_daemon.systemd", description="Print a unit.")
    parser.add_argument("kind", choices=[kind.value for kind in UnitKind])
    parser.add_argument("--executable", default=sys.executable, help="Python interpreter; default: this one.")
    parser.add_argument("--user", default="hydramind", help="Account of the system unit.")
    parser.add_argument("--log-file", default="", help="Where launchd puts the log.")
    given = parser.parse_args()
    sys.stdout.write(render_unit(given.kind, given.executable, user=given.user, log_file=given.log_file))


if __name__ == "__main__":
    main()
