# Every target but help and clean first makes .venv, or brings it up to date with pyproject.toml and the kernels.
PYTHON ?= python3
ARGS ?=
BIN := .venv/bin
INSTALLED := .venv/.installed
READY := .venv/.compiled
PRACTISED := .venv/.practised
KERNELS := $(wildcard src/sparsecluster/_kernels/*.py)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# An editable installation needs no build hook, which would have the dependencies installed once more to compile kernels.
export HATCH_BUILD_NO_HOOKS := true

.DEFAULT_GOAL := help
.PHONY: help demo test test-bounds test-slow fuzz bench lint format docs dist clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo '  PYTHON=python3.12 chooses the Python that makes .venv; ARGS="..." is passed on: make test ARGS="-k gap"'

demo: $(READY) ## Cluster a small example and show what comes out
	$(BIN)/sparsecluster demo $(ARGS)

test: $(PRACTISED) ## Run the tests, without the slow ones
	$(BIN)/pytest -n auto --dist worksteal $(ARGS)

test-bounds: $(READY) ## Run the tests with bounds checking in all kernels
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/build/numba-bounds $(BIN)/pytest -n auto --dist worksteal $(ARGS)

test-slow: $(READY) ## Run the slow tests only
	$(BIN)/pytest -m slow $(ARGS)

fuzz: $(READY) ## Look for crashes, hangs and unclean errors by generated cases
	$(BIN)/python -m fuzz $(ARGS)

bench: $(READY) ## Measure speed and quality; the docs quote these numbers
	$(BIN)/python -m pip install -q -e '.[bench]'
	$(BIN)/python -m benchmarks $(ARGS)

lint: $(INSTALLED) ## Check style, format and types; changes nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src

format: $(INSTALLED) ## Fix what can be fixed of style and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(INSTALLED) ## Build the documentation into site/; warnings are errors
	$(BIN)/python -m pip install -q -e '.[docs]'
	$(BIN)/python tools/methods_page.py --check
	$(BIN)/python tools/cli_page.py --check
	$(BIN)/python tools/results_page.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet --clean
	$(BIN)/python tools/check_links.py

dist: $(INSTALLED) ## Build the wheels, without and with compiled kernels, and the source distribution into dist/
	$(BIN)/python -m pip install -q build twine
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	HATCH_BUILD_NO_HOOKS=false SPARSECLUSTER_KERNELS=all $(BIN)/python -m build --wheel --outdir dist .
	$(BIN)/python -m twine check --strict dist/*

clean: ## Remove caches and built packages; keeps .venv, benchmarks/out and fuzz/out
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -path ./.venv -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q -e '.[dev]'
	touch $@

$(READY): $(INSTALLED) $(KERNELS)
	$(BIN)/python tools/compile_kernels.py
	touch $@

# Otherwise each of the processes that run the tests would compile the same kernels at the same time.
$(PRACTISED): $(READY)
	$(BIN)/python tools/compile_kernels.py --cache
	touch $@
