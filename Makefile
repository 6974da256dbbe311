# make run: the whole thing. make test: every test that can run here. See CONTRIBUTING.md.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help run test test-all verify-all test-gpu test-images lint format tidy types contracts bench dist clean

PY := .venv/bin/python
PYTEST = scripts/run-tests -m "not gpu" -n $(JOBS) --maxprocesses 8 --dist worksteal
ARGS ?=
JOBS ?= auto

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

run:  ## start the website, the workers and the emulator (Ctrl-C stops all of it)
	@exec scripts/run $(ARGS)

test:  ## run the tests, with a tenth of the exhaustive cases; ARGS="-k name" goes to pytest, JOBS=1 runs one at a time
	@scripts/bootstrap dev
	@exec $(PYTEST) $(ARGS)

test-all:  ## run the tests, with all cases; ARGS=--exhaustive-rest runs those that make test left out
	@scripts/bootstrap dev
	@exec $(PYTEST) --exhaustive $(ARGS)

verify-all:  ## verify every challenge that has changed, kernels and mutants included; ARGS="--shard 1/4" takes a part
	@scripts/bootstrap dev
	@exec .venv/bin/gpujudge pack verify --full --changed --record --jobs 2 challenges $(ARGS)

test-gpu:  ## run the tests that need a real NVIDIA GPU: first those that measure no times, several at once
	@scripts/bootstrap dev
	@failed=0; \
	$(PY) -m pytest -m "gpu and not timed" -n auto --maxprocesses 8 --dist worksteal $(ARGS) || [ $$? = 5 ] || failed=1; \
	$(PY) -m pytest -m "gpu and timed" $(ARGS) || [ $$? = 5 ] || failed=1; \
	exit $$failed

test-images:  ## build the container images from the distribution's packages and bring docker-compose.yml up (root, podman)
	@scripts/bootstrap dev
	@exec $(PY) -m pytest -m images $(ARGS)

lint:  ## rules and format of Python, C++ and JavaScript; refused turns of phrase
	@scripts/bootstrap dev
	@scripts/lint

format:  ## let ruff, clang-format and oxfmt format the code
	@scripts/bootstrap dev
	@scripts/lint --fix

tidy:  ## clang-tidy over the C++ (installs it: 150 MB)
	@scripts/bootstrap dev
	@$(PY) -m pip install --quiet --constraint constraints.txt clang-tidy
	@$(PY) scripts/tidy.py $(ARGS)

types:  ## mypy
	@scripts/bootstrap dev
	@$(PY) -m mypy

contracts:  ## who may import whom
	@scripts/bootstrap dev
	@.venv/bin/lint-imports

bench:  ## from Submit to the verdict, 20 times, on a stack of its own
	@scripts/bootstrap server
	@exec $(PY) benchmarks/submit_latency.py $(ARGS)

dist:  ## build the source distribution and, with the emulator compiled, the wheel for this kind of machine
	@scripts/bootstrap dev
	@GPUJUDGE_PLATFORM_WHEEL=1 $(PY) -m build

clean:  ## remove .venv and caches (data/ stays)
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
