#!/usr/bin/env bash
# Every check, cheapest first: style, types, walls, documentation, tests. Stops at the first that fails.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=.venv/bin

echo "== ruff"
$bin/ruff check .
$bin/ruff format --check .
echo "== mypy"
$bin/mypy
echo "== import-linter"
$bin/lint-imports --no-cache
echo "== docs"
scripts/docs.sh
echo "== pytest"
# No display and no sound server are needed from outside: windows are offscreen, and the sound
# tests start a microphone of their own.
export QT_QPA_PLATFORM=offscreen
export OMP_NUM_THREADS=1
# Each worker collects and runs a third of the test files (tests/helpers/parts.py). Three for two
# cores: many tests wait, for sound, timers and other processes.
if [ -n "${SINCE:-}" ]; then
	files=$($bin/python -m tests.since "$SINCE")
	mapfile -t files <<<"$files"
	set -- "${files[@]}"
fi
exec $bin/python -m pytest -n 3 --parts "$@"
