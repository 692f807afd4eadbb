# make demo   compile a small model through the typed IR and compare it with eager
# make test   lint, layering, types, tests: what CI runs
# make check-all   what takes longer too: slow tests, random programs, damaged texts, all proofs, each torch
# make proofs make all certificates and records of validation anew (some 20 minutes)
# make docs   build the documentation into site/
# make versions   demo, round trips and models on each release of torch that is supported
#
# Each target makes its own environment in .venv; nothing installed elsewhere is used. `versions`
# makes one for each release, .venv-2.11.0 and so on: CUDA builds of 5 GB each, which run on a CPU.
# PIP_ARGS is handed to pip, e.g. to name a package index that has CPU builds of torch.

PYTHON ?= python3
PIP_ARGS ?=
PYTEST_ARGS ?=
WORKERS ?= 2
TORCH_VERSIONS ?= 2.11.0 2.12.1 2.13.0 2.14.1

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DOCS_INSTALLED := $(VENV)/.docs-installed

# One kernel thread a process: the test workers share the cores.
export OMP_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1
export PYRIGHT_PYTHON_IGNORE_WARNINGS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK ?= 1
export PIP_NO_INPUT ?= 1
unexport PYTHONPATH

.PHONY: demo versions test check-all long lint layers types unit benchmarks proofs proofs-since docs format clean

demo: $(INSTALLED)
	$(BIN)/xductor demo

test: lint layers types benchmarks unit

check-all: test long versions

# Hours on two cores; run before a release, and before an issue is called resolved.
long: $(INSTALLED)
	$(UNIT) -m slow $(PYTEST_ARGS)
	$(BIN)/python -m tests.before_autograd.random_programs --count 2000 --seed 0
	$(BIN)/python -m tests.before_autograd.random_programs --attends --count 1000 --seed 0
	$(BIN)/python -m tests.ir.text.damaged_texts --count 100000 --seed 1
	$(BIN)/xductor prove --fresh --jobs $(WORKERS)

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python .ci/front_doors.py

# The checkers cannot follow the package mapping; tests/typeroot lays it out as a plain tree.
layers: $(INSTALLED)
	PYTHONPATH=tests/typeroot $(BIN)/lint-imports

types: $(INSTALLED)
	$(BIN)/pyright --pythonpath $(BIN)/python

# Timings are ratios of thread CPU time, so they run alone, before the parallel part. What is over
# its limit is measured again, twice at most: a noisy neighbour is not a slow program.
BENCH := $(BIN)/python -m pytest -q tests/benchmarks $(PYTEST_ARGS)
benchmarks: $(INSTALLED)
	$(BENCH) || $(BENCH) --last-failed || $(BENCH) --last-failed

UNIT := $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --ignore=tests/benchmarks --durations=15
unit: $(INSTALLED)
	$(UNIT) -m "not slow" $(PYTEST_ARGS)

# All certificates and records of validation, anew; and those alone that changed since a revision.
proofs: $(INSTALLED)
	$(BIN)/xductor prove --fresh --write --jobs $(WORKERS)
	$(BIN)/xductor validate --all --prove --write

SINCE ?= HEAD
proofs-since: $(INSTALLED)
	$(BIN)/xductor prove --fresh --since $(SINCE) --jobs $(WORKERS)

versions: $(TORCH_VERSIONS:%=.venv-%/.installed)
	$(PYTHON) tests/torch_versions.py $(TORCH_VERSIONS)

docs: $(DOCS_INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(TORCH_VERSIONS:%=.venv-%) site build xductor.egg-info

NEW_PYTHON = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "xductor needs Python 3.11 or newer")'

$(INSTALLED): pyproject.toml requirements-dev.txt
	$(NEW_PYTHON)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --progress-bar off $(PIP_ARGS) -r requirements-dev.txt -e .
	touch $@

# The same tools as in .venv, with another torch.
.venv-%/.installed: pyproject.toml requirements-dev.txt
	$(NEW_PYTHON)
	$(PYTHON) -m venv .venv-$*
	sed 's/^torch==.*/torch==$*/' requirements-dev.txt > .venv-$*/requirements.txt
	.venv-$*/bin/python -m pip install -qq --progress-bar off --no-compile $(PIP_ARGS) -r .venv-$*/requirements.txt -e .
	touch $@

$(DOCS_INSTALLED): $(INSTALLED) requirements-docs.txt
	$(BIN)/python -m pip install -qq --progress-bar off $(PIP_ARGS) -r requirements-docs.txt
	touch $@
