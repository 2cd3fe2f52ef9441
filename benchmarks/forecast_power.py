"""Power and false positives of the primary tests of concept-forecast, as `labapp plan` computes
them, with more studies a row.

    .venv/bin/python -m benchmarks.forecast_power [--studies 500] [--out FILE]

tests/benchmarks/test_forecast_power.py checks that simulated participants leave rows such as those
that are drawn here.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from labapp.study import loading
from labapp.tasks.concept_repair.report import forecast_power

STUDY = "concept-forecast"


def lines(studies: int) -> Iterator[str]:
    yield "# Power and false positives of concept-forecast"
    yield ""
    yield f"Made by `python -m benchmarks.forecast_power --studies {studies}`."
    for planned in forecast_power.planned(loading.load(STUDY), studies):
        yield f"\n## {planned.title}\n\n{planned.caption}\n"
        names = list(planned.rows[0])
        yield f"| {' | '.join(names)} |"
        words = [isinstance(planned.rows[0][name], str) for name in names]
        yield f"| {' | '.join('---' if text else '---:' for text in words)} |"
        for row in planned.rows:
            power = ["power" in name or name in forecast_power.TITLES.values() for name in names]
            cells = (
                f"{value:.3f}" if share else f"{value:g}" if isinstance(value, float) else value
                for value, share in zip(row.values(), power, strict=True)
            )
            yield f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=500)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    asked = parser.parse_args()
    text = "\n".join(lines(asked.studies)) + "\n"
    asked.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
