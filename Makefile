# `make demo` and `make test` are all a new user needs; both set up what is missing first.
.DEFAULT_GOAL := help
.PHONY: help setup demo run test format clean

help:
	@echo "make demo   set up, then a whole session with a simulated participant, export and report"
	@echo "make run    set up, then open the moderator window"
	@echo "make test   set up, then every check"
	@echo "make format sort imports and format the code"

setup:
	@scripts/setup.sh run

demo: setup
	@.venv/bin/labapp demo

run: setup
	@.venv/bin/labapp

test:
	@scripts/setup.sh test
	@scripts/check.sh

format:
	@.venv/bin/ruff check --fix .
	@.venv/bin/ruff format .

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
