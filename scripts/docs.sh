#!/usr/bin/env bash
# The documentation as pages, in build/docs or the folder that is named. Every warning is an error, and so is
# a question of a newcomer that does not find its page.
set -euo pipefail
cd "$(dirname "$0")/.."
NO_MKDOCS_2_WARNING=1 .venv/bin/python -m mkdocs build --quiet --strict ${1:+--site-dir "$1"}
QT_QPA_PLATFORM=offscreen .venv/bin/python -m scripts.docs_search "${1:-build/docs}"
echo "documentation: ${1:-$PWD/build/docs}/index.html"
