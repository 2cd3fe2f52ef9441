"""The published numbers of papers 001 and 002 computed again, ours beside theirs.

    python -m benchmarks.reproduce_metrics [SECTION ...] [--into benchmarks/reproduce_metrics.md]

Sections: table-1 (of paper 001), ois-leaks (what its OIS sees of a leak), facts (of paper 002),
disagreements (its 5.2), ranks (its 5.1); all by default. Each is printed;
`--into` also puts it into a file in place of the section's earlier state there.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable
from pathlib import Path

TITLES = {
    "table-1": "Table 1 of paper 001",
    "ois-leaks": "What OIS sees of a leak",
    "facts": "The facts of paper 002",
    "disagreements": "Representations on which metrics disagree, paper 002, 5.2",
    "ranks": "Rank correlations between metrics, paper 002, 5.1",
}
HEAD = """# Published numbers of the metrics, and ours

Made by `python -m benchmarks.reproduce_metrics --into benchmarks/reproduce_metrics.md`. "As
published" is the option of that name: what the released code does. The definitions of the metrics
and where released code departs from them stand in the docstrings of `labapp.models.metrics`.
"""


def computed(asked: argparse.Namespace) -> dict[str, Callable[[], str]]:
    # Here, so that --help does not wait for torch.
    from benchmarks.reproduction import (
        disagreements,
        facts,
        ois_leaks,
        ranks,
        table_1,
    )

    return {
        "table-1": lambda: table_1.section(asked.jobs, asked.scores),
        "ois-leaks": ois_leaks.section,
        "facts": facts.section,
        "disagreements": disagreements.section,
        "ranks": lambda: ranks.section(asked.model, asked.jobs),
    }


def put(path: Path, title: str, body: str) -> None:
    """Into the file, in place of the section of that title, in the order of `TITLES`."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True))
    sections[title] = body
    ordered = [f"## {name}\n\n{sections[name]}\n" for name in TITLES.values() if name in sections]
    path.write_text("\n".join([HEAD, *ordered]), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("section", nargs="*", choices=[*TITLES, []], metavar="SECTION")
    parser.add_argument("--into", type=Path, help="the Markdown file that keeps the sections")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--scores",
        type=Path,
        help="a file that keeps the scores of table-1; go on from it",
    )
    parser.add_argument("--model", action="append", default=[], help="one more for the ranks")
    asked = parser.parse_args()
    sections = computed(asked)
    for name in asked.section or TITLES:
        began = time.perf_counter()
        body = sections[name]()
        print(f"## {TITLES[name]}\n\n{body}\n\n({time.perf_counter() - began:.0f} s)", flush=True)
        if asked.into:
            put(asked.into, TITLES[name], body)


if __name__ == "__main__":
    main()
