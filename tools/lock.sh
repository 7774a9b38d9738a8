#!/bin/sh
# Resolves requirements/*.txt: one set of versions and hashes for each supported Python (3.11 and newer) and for Linux
# and macOS. The files hold no address: which index serves a package is the reader's configuration.
#   tools/lock.sh [path of uv] [further options of `uv pip compile`, for example --upgrade]
set -eu
uv=${1:-uv}
[ $# -eq 0 ] || shift
cd "$(dirname -- "$0")/.."
unset PIP_FIND_LINKS UV_FIND_LINKS || true

compile() {
	"$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
		--no-emit-index-url --no-emit-find-links --constraint requirements/constraints.in \
		"$@" pyproject.toml requirements/build.in
}

# The runtime's versions are those of the development lock, so that the tests run what is shipped.
compile --extra dev --output-file requirements/dev.txt "$@"
compile --constraint requirements/dev.txt --output-file requirements/runtime.txt "$@"
