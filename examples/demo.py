"""The story of one contradiction, as `hydramind demo` tells it: python examples/demo.py [--keep]."""

import sys

from hydramind_cli.app import run

if __name__ == "__main__":
    sys.exit(run(["demo", *sys.argv[1:]]))
