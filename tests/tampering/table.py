"""What is noticed of the catalogue, as a table in Markdown:

python -m tests.tampering.table
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from labapp.base.errors import RecordError
from labapp.session.bids.verify import verify
from tests.tampering.catalogue import catalogue
from tests.tampering.places import copied, make


def judged(path: Path) -> tuple[list[str], list[str]]:
    """The problems and notes of a check; what cannot be opened at all is one problem."""
    try:
        report = verify(path)
    except RecordError as error:
        return [error.what], []
    return report.problems, report.notes


def main() -> None:
    counts = {"noticed": 0, "noted": 0, "not noticed": 0}
    print("| manipulation | what was done | noticed | told |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        places = make(Path(temporary) / "made")
        usual = {note for path in vars(places).values() for note in judged(path)[1]}
        for number, done in enumerate(catalogue()):
            root = Path(temporary) / str(number)
            try:
                path = done.do(copied(places, root, done.needs))
                problems, notes = judged(path)
            except Exception as error:  # noqa: BLE001 - whatever an older version dies of
                problems, notes, path = [], [], root
                told, state = f"the check died: {type(error).__name__}", "not noticed"
            else:
                notes = [note for note in notes if note not in usual]
                told = (problems or notes or [done.unnoticed])[0].replace(str(path.parent), "…")
                state = "noticed" if problems else "noted" if notes else "not noticed"
            counts[state] += 1
            said = " ".join(told.split()).replace("|", "\\|")[:160]
            print(f"| {done.name} | {done.sentence} | {state} | {said} |")
    print(f"\n{sum(counts.values())} manipulations: ", end="")
    print(", ".join(f"{count} {state}" for state, count in counts.items()) + ".")


if __name__ == "__main__":
    main()
