"""Sessions coded in memory, by codebooks of a few lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from labapp.coding.annotations.codebook import Codebook, parse
from labapp.coding.annotations.model import (
    Assignment,
    Mark,
    RaterMarks,
    Round,
    Segmentation,
    SessionAnnotations,
    Status,
    Unit,
)
from labapp.coding.annotations.reliability.gathering import CodedSession

S = 1_000_000_000
TEXT = """
codebook: small
version: 1
tiers:
  strategy: {exclusive: true, on: units}
  mood: {exclusive: true, on: units, optional: true}
  topic: {exclusive: false, on: units, optional: true}
  sure: {exclusive: true, on: units, values: [1, 2, 3, 4, 5]}
  doing: {exclusive: true, on: spans, optional: true}
  affect: {exclusive: false, on: spans, optional: true}
codes:
  - {id: explore, tier: strategy, key: e, name: Exploring, when: tries}
  - {id: goal, tier: strategy, key: g, name: Goal, when: knows}
  - {id: random, tier: strategy, key: r, name: Random, when: neither}
  - {id: glad, tier: mood, key: l, name: Glad, when: laughs}
  - {id: hair, tier: topic, key: h, name: Hair, when: of hair}
  - {id: face, tier: topic, key: f, name: Face, when: of faces}
  - {id: sure, tier: sure, key: s, name: Sure, when: says how sure}
  - {id: reading, tier: doing, key: a, name: Reading, when: reads}
  - {id: turning, tier: doing, key: b, name: Turning, when: turns}
  - {id: uncertain, tier: affect, key: u, name: Uncertain, when: doubts}
  - {id: bored, tier: affect, key: o, name: Bored, when: sighs}
  - {id: insight, tier: affect, key: i, name: Insight, when: aha, kind: point}
"""


def codebook(version: int = 1) -> Codebook:
    content = TEXT.replace("version: 1", f"version: {version}").encode()
    return parse(content, Path("codebook.yaml"))


BOOK = codebook()

Given = Sequence[str | None]
"""By unit the codes of a tier, parted by blanks, as `hair face`; `sure=3` with a value."""


def unit_marks(
    rater: str, given: Given, book: Codebook = BOOK, round_: Round = "independent"
) -> list[Mark]:
    marks = []
    for at, codes in enumerate(given):
        for text in (codes or "").split():
            code, _, value = text.partition("=")
            entry = book.code(code)
            assert entry is not None
            marks.append(
                Mark(
                    f"{rater}-{at}-{code}", rater, entry.tier, code, 2 * at * S, (2 * at + 1) * S,
                    unit=f"u{at}", value=int(value) if value else None, codebook=book.sha256,
                    round=round_,
                )
            )  # fmt: skip
    return marks


def span_marks(rater: str, spans: Sequence[tuple[float, float, str]]) -> list[Mark]:
    marks = []
    for at, (begin, end, code) in enumerate(spans):
        entry = BOOK.code(code)
        assert entry is not None
        marks.append(
            Mark(
                f"{rater}-{at}", rater, entry.tier, code, int(begin * S), int(end * S),
                codebook=BOOK.sha256,
            )
        )  # fmt: skip
    return marks


def rater(
    name: str,
    marks: Sequence[Mark],
    status: Status = "locked",
    round_: Round = "independent",
    *,
    machine: bool = False,
    book: Codebook = BOOK,
) -> RaterMarks:
    return RaterMarks(name, tuple(marks), status, machine, book.sha256, round_)


def session(
    raters: Sequence[RaterMarks],
    n_units: int = 12,
    name: str = "sub-P01_ses-1_20260102T030405Z",
    *,
    frozen: bool = True,
    moderator: Sequence[int] = (),
    assignments: Sequence[Assignment] = (),
    end_s: int = 60,
    participant: str | None = None,
) -> CodedSession:
    units = tuple(
        Unit(
            f"u{at}", 2 * at * S, (2 * at + 1) * S,
            "moderator" if at in moderator else "participant",
        )
        for at in range(n_units)
    )  # fmt: skip
    by_name: Mapping[str, RaterMarks] = {each.rater: each for each in raters}
    annotations = SessionAnnotations(name, Segmentation(units, frozen, "anna"), raters=by_name)
    return CodedSession("study", participant or name, annotations, 0, end_s * S, tuple(assignments))
