# All set-up and all checks. `make` alone lists the targets.
# Nothing here needs a database server, a compiler or a browser.

VENV   ?= .venv
BIN    := $(VENV)/bin
PY     := $(BIN)/python
# -v takes back the -q of pyproject.toml: the last line is the whole summary.
PYTEST := $(PY) -m pytest -v
# The tool that resolves the lock files. It is not part of the environment.
UV_VERSION := 0.13.9
LOCK_ENV   := build/lock-env
export VENV PYTHON

.DEFAULT_GOAL := help
.PHONY: help bootstrap bootstrap-runtime demo dev check lint check-types proto proto-image test test-all coverage build lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

bootstrap: ## Make .venv and install the locked packages and the project; at once when nothing changed
	@sh tools/bootstrap.sh dev

bootstrap-runtime:
	@sh tools/bootstrap.sh runtime

demo: bootstrap-runtime ## Tell the story of one contradiction in the terminal, on a throw-away home
	@$(PY) examples/demo.py

dev: bootstrap ## Run a daemon in the foreground on the home .demo-home, with debug logs
	@$(PY) -m hydramind_daemon --managed --home .demo-home --log-level debug

check: lint check-types ## Lint, types, layers and the fast tests
	@$(PYTEST) -m "not slow and not integration and not evaluation" tests/arch tests/unit

lint: bootstrap ## Ruff: rules and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

check-types: bootstrap ## mypy, strict
	@$(BIN)/mypy

proto: bootstrap ## Write the stubs anew from proto/hydramind/v1/*.proto
	@$(PY) proto/generate.py

proto-image: bootstrap ## Freeze the contract as released: later changes may not break it
	@$(BIN)/buf build --exclude-source-info --output tests/contract/hydramind_v1.binpb

test: bootstrap ## All tests but the slow ones
	@$(PYTEST) -m "not slow"

test-all: bootstrap ## All tests: also crashes, power cuts and load
	@$(PYTEST) --timeout=3600

coverage: bootstrap ## Branch coverage of the domain and the daemon by the tests that are not slow
	@$(PYTEST) -m "not slow" --cov --cov-report=term-missing:skip-covered

build: bootstrap ## Build the wheel and the source archive into dist/
	@$(PY) -m build --no-isolation --outdir dist

lock: ## Resolve requirements/*.txt anew (needs the package index)
	@test -x $(LOCK_ENV)/bin/python || python3 -m venv $(LOCK_ENV)
	@$(LOCK_ENV)/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@sh tools/lock.sh $(LOCK_ENV)/bin/uv

clean: ## Remove everything that was built, the environment included
	rm -rf $(VENV) build dist htmlcov .coverage* .mypy_cache .ruff_cache .import_linter_cache .pytest_cache .hypothesis .demo-home mutants
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
