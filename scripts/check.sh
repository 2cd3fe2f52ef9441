#!/usr/bin/env bash
# Every check: style; then types, walls and documentation beside each other; then the tests, which
# want the machine for themselves. Stops after the first of these three that fails.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=.venv/bin

echo "== ruff"
$bin/ruff check .
$bin/ruff format --check .

said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
declare -A started
start() {
	"${@:2}" >"$said/$1" 2>&1 &
	started[$1]=$!
}
start mypy $bin/mypy
start import-linter $bin/lint-imports --no-cache
start docs scripts/docs.sh
failed=""
for check in mypy import-linter docs; do
	echo "== $check"
	wait "${started[$check]}" || failed="$failed $check"
	cat "$said/$check"
done
if [ -n "$failed" ]; then
	echo "failed:$failed"
	exit 1
fi

echo "== pytest"
# No display and no sound server are needed from outside: windows are offscreen, and the sound
# tests start a microphone of their own.
export QT_QPA_PLATFORM=offscreen
export OMP_NUM_THREADS=1
# Each worker collects and runs a third of the test files (tests/helpers/parts.py). Three for two
# cores: many tests wait, for sound, timers and other processes.
if [ -n "${SINCE:-}" ]; then
	if [ $# -gt 0 ]; then
		echo "Give WING or SINCE, not both. No test was run." >&2
		exit 2
	fi
	files=$($bin/python -m tests.since "$SINCE")
	mapfile -t files <<<"$files"
	set -- "${files[@]}"
fi
$bin/python -m pytest -n 3 --parts "$@"
