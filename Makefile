PYTHON := .venv/bin/python

.PHONY: setup test quick coverage pure bounds oldest threads kills fuzz format lint types docs models figures site playground playground-test check

setup: .venv/made
.venv/made: pyproject.toml setup.py constraints.txt
	python3 -m venv .venv
	.venv/bin/pip install -q -c constraints.txt -e '.[dev]'
	touch $@

test: setup  ## the tests
	$(PYTHON) -m pytest -n auto

SINCE := HEAD

quick: setup  ## lint, types and the tests that import a changed module: make quick SINCE=main
	.venv/bin/ruff format --check
	.venv/bin/ruff check
	.venv/bin/mypy
	$(PYTHON) tests/quick.py $(SINCE) | xargs -r $(PYTHON) -m pytest -n auto -x

coverage: setup  ## the share of lines that the tests run
	$(PYTHON) -m coverage run --source=src/ropewalk -m pytest -p no:xdist
	$(PYTHON) -m coverage report --skip-covered

KERNEL_TESTS := $(addprefix tests/test_, $(addsuffix .py, \
	arc_decoding combinations conllu decoding encodings fuzz_arrays graph_encodings graphs lexicon projectivity recurrence repair ropes spanning treebank trees))

pure: setup  ## the tests of what kernels do, with kernels in plain Python
	ROPEWALK_PURE=1 $(PYTHON) -m pytest -n auto $(KERNEL_TESTS)

CHECKED := $(CURDIR)/build/checked/lib

bounds: setup  ## the same tests, with kernels that look at every index before they use it
	CFLAGS=-O1 ROPEWALK_BOUNDSCHECK=1 $(PYTHON) setup.py -q build --build-base build/checked --build-lib $(CHECKED)
	PYTHONPATH=$(CHECKED) ROPEWALK_BOUNDSCHECK=1 $(PYTHON) -m pytest -n auto $(KERNEL_TESTS)

CORE_TESTS := $(addprefix tests/test_, $(addsuffix .py, \
	attachment calibration cli cli_graphs cli_scoring combinations coverage edits enhancement english errors \
	files graph_scores graphs lemmas model_folders models packages packed parse_cli pipeline plots progress pruning repair \
	reproduce ropes serving serving_robust significance spanning statistics tables text_rules threads treebank trees ud \
	walks word_tables))

oldest: setup  ## the core tests, which need no torch, with the lowest versions that pyproject.toml allows
	python3 -m venv --clear build/oldest
	build/oldest/bin/pip install -q $$($(PYTHON) .ci/oldest.py plot serve subwords tables test)
	PYTHONPATH=src build/oldest/bin/python -m pytest -n auto -W ignore::DeprecationWarning $(CORE_TESTS)

ROUNDS := 25

threads: setup  ## one parser in 8 threads, 2,000 texts again and again: make threads ROUNDS=100
	ROPEWALK_ROUNDS=$(ROUNDS) $(PYTHON) -m pytest tests/test_threads.py

MINUTES := 1

fuzz: setup  ## random arrays and damaged inputs against all that takes them, each for some time: make fuzz MINUTES=10
	$(PYTHON) tests/fuzz_arrays.py --minutes $(MINUTES)
	for kind in conllu labels texts json; do $(PYTHON) tests/fuzz_inputs.py $$kind --minutes $(MINUTES) || exit 1; done
	$(PYTHON) tests/fuzz_models.py --minutes $(MINUTES)
	$(PYTHON) tests/fuzz_networks.py --minutes $(MINUTES)
	$(PYTHON) tests/fuzz_http.py --minutes $(MINUTES)
	$(PYTHON) tests/fuzz_kills.py server --minutes $(MINUTES)

KILLS := 30

kills: setup  ## trainings and drivers of corpora, killed at random moments so many times each: make kills KILLS=100
	for kind in training corpus; do $(PYTHON) tests/fuzz_kills_runs.py $$kind --kills $(KILLS) || exit 1; done

format: setup
	.venv/bin/ruff format
	.venv/bin/ruff check --fix

lint: setup
	.venv/bin/ruff format --check
	.venv/bin/ruff check
	.venv/bin/codespell

types: setup
	.venv/bin/mypy

docs: setup  ## the pages that are made from the program
	$(PYTHON) docs/commands.py
	$(PYTHON) docs/list_encodings.py > docs/encodings-list.md.new && mv docs/encodings-list.md.new docs/encodings-list.md
	$(PYTHON) docs/list_options.py > docs/options.md.new && mv docs/options.md.new docs/options.md

models: setup  ## all that lists the models under models/: the list in the package, the page of languages, the first pages
	$(PYTHON) recipes/list_models.py > src/ropewalk/data/models.json.new && mv src/ropewalk/data/models.json.new src/ropewalk/data/models.json
	$(PYTHON) docs/list_languages.py

figures: setup  ## the pictures of the documentation
	$(PYTHON) docs/draw_figures.py

SITE := build/site

site: setup  ## the documentation as pages that need no server: build/site/index.html
	rm -rf $(SITE)
	$(PYTHON) -m sphinx -q -W --keep-going -c docs -d build/site-cache . $(SITE)
	$(PYTHON) docs/check_site.py $(SITE)

PLAYGROUND := build/playground

playground: setup  ## the page as static files that parse in the browser, without a server: python -m http.server -d build/playground
	$(PYTHON) playground/build.py $(PLAYGROUND)

playground-test: playground  ## the playground in a browser, beside Python
	ROPEWALK_PLAYGROUND=$(PLAYGROUND) $(PYTHON) -m pytest -n 0 -s -m playground tests/test_playground.py

check:  ## exactly what CI runs, in a fresh copy and a fresh environment
	.ci/run
