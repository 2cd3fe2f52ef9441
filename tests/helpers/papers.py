"""The sections, figures and tables that the papers have, to check citations against.

The papers themselves are not shipped. Where their texts lie in a folder `shared/papers` beside the
checkout or above it, `tests.test_citations` compares these lists with them.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def _numbers(prefix: str, last: int, first: int = 1) -> list[str]:
    return [f"{prefix}{n}" for n in range(first, last + 1)]


SECTIONS: dict[str, frozenset[str]] = {
    "000": frozenset(
        [
            *_numbers("", 8),
            *_numbers("2.", 2),
            *_numbers("3.", 4),
            *_numbers("4.", 6),
            *("5.1", *_numbers("5.1.", 4), "5.2", *_numbers("5.2.", 2)),
            *("6.1", *_numbers("6.1.", 5), "6.2", *_numbers("6.2.", 2)),
            *("A", *_numbers("A.", 4), *_numbers("A.1.", 2), *_numbers("A.2.", 3)),
        ]
    ),
    "001": frozenset([*_numbers("", 5), "3.1", "3.2", "4.1", "A", *_numbers("A.", 11)]),
    "002": frozenset(
        [
            *_numbers("", 7),
            *("2.1", "2.2", "3.1", *_numbers("3.1.", 5), "3.2", *_numbers("3.2.", 4), "3.3"),
            *(*_numbers("4.", 4), "5.1", "5.2", "5.2.1", "5.2.2"),
            *("A", "A.1", "A.2", "A.2.1", "A.2.2"),
        ]
    ),
    "003": frozenset(
        [*_numbers("", 6), *_numbers("3.", 3), *_numbers("5.", 3), "A", "B", "C", "D"]
    ),
    "004": frozenset([*_numbers("", 5), *_numbers("3.", 5), *_numbers("4.", 4)]),
}
FIGURES: dict[str, frozenset[str]] = {
    "000": frozenset([*_numbers("", 10), *_numbers("A.", 15, 11)]),
    "001": frozenset([*_numbers("", 5), *_numbers("A.", 6)]),
    "002": frozenset(_numbers("", 4)),
    "003": frozenset([*_numbers("", 5), *_numbers("A", 18)]),
    "004": frozenset(_numbers("", 9)),
}
TABLES: dict[str, frozenset[str]] = {
    "000": frozenset(["1", "2", "A.3", "A.4"]),
    "001": frozenset(["1", "A1"]),
    "002": frozenset(["1"]),
    "003": frozenset(["1", "A1", "A2"]),
    "004": frozenset(["1", "2"]),
}


def text_of(paper: str) -> str | None:
    """The text of a paper, where it is at hand."""
    for folder in ROOT.parents:
        for path in sorted((folder / "shared" / "papers").glob(f"{paper}_*.txt")):
            return path.read_text(encoding="utf-8")
    return None
