PYTHON := .venv/bin/python

.PHONY: setup test pure format lint types docs figures check

setup: .venv/made
.venv/made: pyproject.toml setup.py constraints.txt
	python3 -m venv .venv
	.venv/bin/pip install -q -c constraints.txt -e '.[dev]'
	touch $@

test: setup  ## the tests
	$(PYTHON) -m pytest -n auto

KERNEL_TESTS := $(addprefix tests/test_, $(addsuffix .py, \
	conllu decoding encodings projectivity repair ropes spanning treebank trees))

pure: setup  ## the tests of what kernels do, with kernels in plain Python
	ROPEWALK_PURE=1 $(PYTHON) -m pytest -n auto $(KERNEL_TESTS)

format: setup
	.venv/bin/ruff format
	.venv/bin/ruff check --fix

lint: setup
	.venv/bin/ruff format --check
	.venv/bin/ruff check

types: setup
	.venv/bin/mypy

docs: setup  ## the pages that are made from the program
	$(PYTHON) docs/commands.py > docs/commands.md.new && mv docs/commands.md.new docs/commands.md

figures: setup  ## the pictures of the documentation
	$(PYTHON) docs/draw_figures.py

check:  ## exactly what CI runs, in a fresh copy and a fresh environment
	.ci/run
