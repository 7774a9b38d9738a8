#!/bin/sh
# Makes the project's environment and installs the project into it.
#   tools/bootstrap.sh runtime|dev
# Every package comes from a lock file and must have a hash there; the project itself is installed editable, without
# dependencies and without build isolation. A fingerprint of all inputs makes a second run end at once.
set -eu

kind=${1:-dev}
case $kind in runtime | dev) ;; *)
	echo "usage: tools/bootstrap.sh runtime|dev" >&2
	exit 64
	;;
esac

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
cd "$root"
venv=${VENV:-.venv}

usable() { # A Python that is new enough and can make environments.
	"$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
	for candidate in ${PYTHON:-} python3.14 python3.13 python3.12 python3.11 python3 /usr/bin/python3; do
		if usable "$candidate"; then
			command -v "$candidate"
			return 0
		fi
	done
	return 1
}

say_what_is_missing() {
	echo "HydraMind needs Python 3.11 or newer with the venv and ensurepip modules; none was found." >&2
	echo "On Debian or Ubuntu:  apt-get install python3 python3-venv" >&2
	echo "On macOS:             brew install python3" >&2
	echo "Elsewhere name one:   make bootstrap PYTHON=/path/to/python3" >&2
}

fingerprint() { # The place is part of it: an environment cannot be moved.
	echo "$root"
	cat "requirements/$1.txt" pyproject.toml tools/bootstrap.sh | cksum
}

up_to_date() {
	stamp=$venv/.installed-$1
	[ -x "$venv/bin/python" ] && [ -f "$stamp" ] && [ "$(fingerprint "$1")" = "$(cat "$stamp")" ]
}

# The development environment holds everything that the runtime needs.
if up_to_date "$kind" || { [ "$kind" = runtime ] && up_to_date dev; }; then
	exit 0
fi

# Scripts in an environment name its absolute path, so one that was copied or moved with its checkout is of no use.
works_here() {
	grep -qF -e "$(cd -- "$venv" && pwd -P)" -e "$(cd -- "$venv" && pwd)" "$venv/bin/activate" 2>/dev/null &&
		{ "$venv/bin/python" -c 'import pip' || "$venv/bin/python" -m ensurepip; } >/dev/null 2>&1
}

if [ -d "$venv" ] && ! works_here; then
	echo "The environment in $venv was made elsewhere or is broken: making it anew." >&2
	rm -rf "$venv"
fi
if [ ! -d "$venv" ]; then
	if ! python=$(find_python); then
		say_what_is_missing
		exit 69
	fi
	echo "Making $venv with $("$python" --version) ($python)"
	"$python" -m venv "$venv" || {
		rm -rf "$venv"
		say_what_is_missing
		exit 69
	}
fi

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
install() { "$venv/bin/python" -m pip install --quiet --quiet --no-deps "$@"; }
echo "Installing requirements/$kind.txt"
install --require-hashes -r "requirements/$kind.txt"
install --no-build-isolation --editable .
fingerprint "$kind" >"$venv/.installed-$kind"
