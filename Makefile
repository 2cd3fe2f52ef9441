# `make demo` and `make test` are all a new user needs; both set up what is missing first.
.DEFAULT_GOAL := help
# Packages are installed uncompiled (scripts/setup.sh): compiled at every start, they would take twice as long.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help setup demo run test nightly docs package lock pictures check-tasks torture fuzz format clean

help:
	@echo "make demo   set up, then a whole session with a simulated participant, export and report"
	@echo "make run    set up, then open the moderator window"
	@echo "make test   set up, then every check that one waits for; WING=ui: of the tests those in tests/ui"
	@echo "            SINCE=main: only the tests affected by what differs from main"
	@echo "make nightly  the tests that make test leaves out (tests/nightly.yaml), mutants, torture and fuzz: hours"
	@echo "make docs   set up, then the documentation as pages: build/docs/index.html; make pictures draws its windows again"
	@echo "make package  a folder with a Python of its own, as an archive and a .deb, in dist (Linux); some minutes"
	@echo "make lock   the lock files in locks/, from pyproject.toml and constraints.txt"
	@echo "make torture  every study resumed after every kind of event; 200 sessions killed; hours"
	@echo "make check-tasks  the kit that tasks are checked with, 200 random courses of each; EXAMPLES=200"
	@echo "make fuzz   set up, then hostile inputs to every reader, SECONDS=60 each"
	@echo "make format sort imports and format the code"

setup:
	@scripts/setup.sh run

demo: setup
	@.venv/bin/labapp demo

run: setup
	@.venv/bin/labapp

# WING: run only the tests in this folder of tests/; SINCE: only those affected since a commit
# (tests/since.py).
test:
	@scripts/setup.sh test
	@SINCE=$(SINCE) scripts/check.sh $(if $(WING),tests/$(WING))

# Every test, then mutants, torture and fuzz, with their settings.
nightly:
	@scripts/setup.sh test
	@KILLS=$(KILLS) ROWS=$(ROWS) SECONDS_EACH=$(or $(SECONDS),60) OUT=$(OUT) scripts/nightly.sh

docs:
	@scripts/setup.sh docs
	@scripts/docs.sh

# scripts/bare_root.sh tries it on a bare system.
package:
	@scripts/setup.sh test
	@.venv/bin/python -m scripts.package

lock:
	@.venv/bin/python scripts/lock.py

pictures:
	@scripts/setup.sh test
	@.venv/bin/python scripts/docs_pictures.py
	@.venv/bin/python scripts/docs_animation.py
	@.venv/bin/python -m scripts.docs_gallery --pictures
	@.venv/bin/python -m scripts.docs_figures
	@.venv/bin/python -m scripts.models_picture

# KILLS: in all; ROWS: at most so many of each study (0: all); OUT: where what goes wrong is kept.
KILLS ?= 200
ROWS ?= 0
torture:
	@scripts/setup.sh test
	@QT_QPA_PLATFORM=offscreen OMP_NUM_THREADS=1 .venv/bin/python -m tests.torture \
		--kills $(KILLS) --rows $(ROWS) $(if $(OUT),--out $(OUT))

check-tasks:
	@scripts/setup.sh test
	@QT_QPA_PLATFORM=offscreen OMP_NUM_THREADS=1 LABAPP_KIT_EXAMPLES=$(or $(EXAMPLES),200) \
		.venv/bin/python -m pytest -q -n auto tests/testing tests/examples

fuzz:
	@scripts/setup.sh test
	@.venv/bin/python -m tests.hostile.targets --seconds $(or $(SECONDS),60)
	@.venv/bin/python -m tests.hostile.growing
	@.venv/bin/python -m tests.hostile.growing --large

format:
	@.venv/bin/ruff check --fix .
	@.venv/bin/ruff format .

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
