#!/usr/bin/env bash
# All that takes long, one after another; what fails is named at the end, and the rest runs all the
# same. KILLS and ROWS as for `make torture`, SECONDS_EACH as SECONDS of `make fuzz`, OUT: a folder
# for what goes wrong.
set -uo pipefail
cd "$(dirname "$0")/.."
export QT_QPA_PLATFORM=offscreen
export OMP_NUM_THREADS=1
failed=()

step() {
	local name=$1
	shift
	echo "== $name"
	"$@" || failed+=("$name")
}

# A file at a time, in a copy: what each executes is written to tests/executed.json on the way.
step "every test" env LABAPP_TESTS_ALL=1 .venv/bin/python -m tests.executed --jobs 3
step "mutants" .venv/bin/python -m tests.mutants --again
step "torture" .venv/bin/python -m tests.torture --kills "${KILLS:-200}" --rows "${ROWS:-0}" \
	${OUT:+--out "$OUT"}
step "fuzz" .venv/bin/python -m tests.hostile.targets --seconds "${SECONDS_EACH:-60}"
step "growing" .venv/bin/python -m tests.hostile.growing
step "growing, large files" .venv/bin/python -m tests.hostile.growing --large

if [ ${#failed[@]} -gt 0 ]; then
	printf 'failed: %s\n' "${failed[@]}"
	exit 1
fi
