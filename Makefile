# make demo: train a translator and see what it says.   make test: all the tests.   make help: the rest.
VENV ?= .venv
PYTHON ?= python3
PIP_INSTALL = $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help demo test test-fast lint clean
.DEFAULT_GOAL := help

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

demo: $(VENV)/.installed ## train a Korean-English Transformer on this machine, in a few minutes
	$(VENV)/bin/jumok demo

test: $(VENV)/.installed-dev ## every test
	$(VENV)/bin/python -m pytest -n auto --dist worksteal -m "not alone"
	$(VENV)/bin/python -m pytest -m alone

test-fast: $(VENV)/.installed-dev ## the tests that take seconds
	$(VENV)/bin/python -m pytest -n auto --dist worksteal -m "not slow"

lint: $(VENV)/.installed-dev ## format, lint and types
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy

clean: ## remove the environment and the caches; runs/ and prepared/ stay
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Jumok needs Python 3.11 or newer, $(PYTHON) is older: make PYTHON=/path/to/python3.11 demo"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing Jumok into $(VENV) (once; a few minutes) ..."
	$(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing Jumok and its test tools into $(VENV) (once; a few minutes) ..."
	$(PIP_INSTALL) --editable '.[dev]'
	@touch $@ $(VENV)/.installed
