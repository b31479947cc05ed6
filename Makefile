# A fresh machine needs Python 3.11 or newer, make and a package registry that pip can reach.
# Each target first brings `.venv` up to date with requirements.lock; when nothing changed it starts at once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SMOLAGENTS_TESTS := build/smolagents/tests

# Nothing here may ask a model hub, a price list or a telemetry service.
export LITELLM_LOCAL_MODEL_COST_MAP := True
export HF_HUB_OFFLINE := 1
export HF_HUB_DISABLE_TELEMETRY := 1
export DO_NOT_TRACK := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test oldest check format lint types docs lock cassettes model bench clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/installed ## See an agent's tool calls judged and one refused (ARGS="--live" runs the embedded model)
	@$(BIN)/agentltl demo $(ARGS)

test: $(VENV)/installed $(SMOLAGENTS_TESTS) ## Run the tests (ARGS="tests/guard -k stop" for some of them)
	@$(BIN)/python -m pytest -n auto $(ARGS)

oldest: build/oldest/installed ## Run the tests of the agents on the oldest smolagents that is supported
	@build/oldest/bin/python -m pytest -n auto --deselect tests/agents/test_smolagents_own.py tests/agents tests/record $(ARGS)

check: ## Run everything that must hold before a change goes in: format, lint, types, tests
	@$(MAKE) lint
	@$(MAKE) types
	@$(MAKE) test

format: $(VENV)/installed ## Rewrite the code in the one format, with the safe fixes of the linter
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

lint: $(VENV)/installed ## Check format and lint, changing nothing
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

types: $(VENV)/installed ## Check the types, strictly
	@$(BIN)/mypy

docs: $(VENV)/installed ## Generate the reference pages again
	@$(BIN)/python scripts/generate_docs.py

lock: ## Pin the newest allowed release of every dependency, with hashes, in requirements.lock
	@$(PYTHON) -m venv build/uv
	@build/uv/bin/python -m pip install -qq uv
	@build/uv/bin/uv pip compile pyproject.toml --all-extras --group dev --group build \
		--universal --python-version 3.11 --generate-hashes --upgrade \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links --quiet --output-file requirements.lock

cassettes: $(VENV)/installed ## Record the HTTP cassettes again from the embedded model (a maintainer's task)
	@$(BIN)/python scripts/record_cassettes.py $(ARGS)

model: $(VENV)/installed ## Fetch the embedded model's file and check its hash (a maintainer's task)
	@env -u HF_HUB_OFFLINE $(BIN)/python -m agentltl.agents.models.fetch $(ARGS)

bench: $(VENV)/installed ## Run the benchmarks
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python "$$file" || exit 1; done

clean: ## Remove the environment and everything that was built
	@rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Three stamps, so that a changed line in pyproject.toml does not cost a new environment.

$(VENV)/locked: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "this needs Python 3.11 or newer, and \`$(PYTHON)\` is not"; \
		echo "  name another one: make PYTHON=python3.12 ..."; exit 1; } >&2
	@echo "installing the locked dependencies into $(VENV), once" >&2
	@$(PYTHON) -m venv --clear $(VENV) || { \
		echo "\`$(PYTHON) -m venv\` failed"; \
		echo "  on Debian and its kin, venv and pip are packages of their own: python3-venv"; exit 1; } >&2
	@$(BIN)/python -m pip install -qq --no-deps --require-hashes -r requirements.lock
	@touch $@

$(VENV)/installed: $(VENV)/locked pyproject.toml
	@$(BIN)/python -m pip install -qq --no-deps --no-build-isolation --editable .
	@touch $@

build/oldest/installed: requirements.lock pyproject.toml
	@$(PYTHON) -m venv --clear build/oldest
	@build/oldest/bin/python -m pip install -qq --no-deps --require-hashes -r requirements.lock
	@build/oldest/bin/python -m pip install -qq --no-deps smolagents==1.22.0
	@build/oldest/bin/python -m pip install -qq --no-deps --no-build-isolation --editable .
	@touch $@

$(SMOLAGENTS_TESTS): $(VENV)/locked scripts/unpack_smolagents_tests.py
	@$(BIN)/python scripts/unpack_smolagents_tests.py $@
	@touch $@
