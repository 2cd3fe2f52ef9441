"""Sheets with anything in them, and a coded session with two sound files, for exchange."""

from __future__ import annotations

import shutil
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import numpy as np
from hypothesis import strategies as st

from labapp.base.messages import Message
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.model import Mark
from labapp.coding.annotations.store import annotations_of, open_marks
from labapp.coding.exchange.coming_in import plan_import
from labapp.coding.exchange.gathering import Exported, export_coding
from labapp.coding.exchange.incoming import FORMATS, read
from labapp.coding.exchange.model import Annotation, Media, Sheet, Stamp, Utterance
from labapp.coding.exchange.plan import ImportPlan
from labapp.record.journal.opening import open_record
from tests.helpers.coded_session import CODEBOOK, add_codebook, add_units
from tests.helpers.recorded_sounds import RATE, Take, sounding_session

TEMPORARY = gettempdir()
"""As the process began: a test may have one of its own, which what is shared must not lie in."""

MS = 1_000_000
SECOND = 1_000_000_000
HOUR = 3600 * SECOND
BOOK = codebooks.parse(CODEBOOK.encode(), Path("codebook.yaml"))
STRANGE = (
    'a < b & "c" > d', "two\nlines", "\n\n", "שלום, עולם", "مرحبا", "🙂 \U0001f468\u200d",
    "-->", "<b>", "]]>", "''\"\"", "a;b,c\td", "[moderator] no", "e\u0301 \u2028 f", "=1+1", "\x07",
)  # fmt: skip
TEXTS = st.one_of(
    st.sampled_from(STRANGE),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.text(st.sampled_from("abc \n\"<>&;,'[]#=/0"), max_size=20),
)


@st.composite
def sheets(draw: st.DrawFn) -> Sheet:
    """A sheet that a session can have: units that do not overlap, codes on them and beside."""
    times = st.integers(0, 2 * HOUR)
    bounds = sorted(draw(st.sets(times, max_size=12)))
    utterances = []
    annotations = []
    for number, (begin, end) in enumerate(pairwise(bounds)):
        if end - begin < 20 * MS or draw(st.booleans()):
            continue
        speaker = draw(st.sampled_from(["participant", "participant", "moderator", "other"]))
        unit = f"{number:016x}"
        utterances.append(Utterance(unit, begin, end, speaker, draw(TEXTS)))  # type: ignore[arg-type]
        if draw(st.booleans()):
            code = draw(st.sampled_from(["explore", "goal", "random", "names"]))
            memo = draw(TEXTS)
            annotations.append(
                Annotation(f"a{unit[1:]}", "strategy", code, begin, end, unit, memo=memo)
            )
        if draw(st.booleans()):
            value = draw(st.sampled_from([None, 1, 2, 3, 4, 5]))
            annotations.append(
                Annotation(f"b{unit[1:]}", "surety", "sure", begin, end, unit, value=value)
            )
    for number in range(draw(st.integers(0, 6))):
        begin = draw(times)
        if draw(st.booleans()):
            own = Annotation(f"c{number:015x}", "affect", "insight", begin, begin)
        else:
            end = begin + draw(st.integers(3 * MS, 600 * SECOND))
            own = Annotation(f"c{number:015x}", "affect", "uncertain", begin, end, memo=draw(TEXTS))
        annotations.append(own)
    annotations.sort(key=lambda a: (a.t0_ns, a.t1_ns))
    return sheet_with(tuple(utterances), tuple(annotations))


def sheet_with(
    utterances: tuple[Utterance, ...] = (),
    annotations: tuple[Annotation, ...] = (),
    media: Media | None = None,
    book: Codebook = BOOK,
) -> Sheet:
    """A sheet with these, in session time unless there is sound."""
    ends = [0, *(u.t1_ns for u in utterances), *(a.t1_ns for a in annotations)]
    stamp = Stamp("sub-P01_ses-1_20260102T030405Z", "anna").of(utterances, annotations)
    return Sheet(
        stamp.session, "P01", "anna", utterances, annotations, book, media, max(ends) + SECOND,
        stamp, "2026-01-02T03:04:05.000000Z", {"condition": "vae"},
    )  # fmt: skip


QUIET = 8000
"""The amplitude of the sound of `exchanged_session`."""


def exchanged_session(
    root: Path, uses: dict[str, bool] | None = None, louder_s: tuple[float, float] | None = None
) -> Path:
    """A session of two sound files, whose clocks are 120 ppm fast and 60 ppm slow, with units and
    marks of anna: on units, overlapping, in both files, and a moment.

    uses: what the participant agreed to. louder_s: session time in which the first sound is twice
    as loud as everywhere else.
    """
    agreed = None if uses is None else tuple(uses.items())
    made = Path(_made(agreed, louder_s).name)
    shutil.copytree(made, root, dirs_exist_ok=True)
    (session,) = root.glob("*/sub-*")
    return session


@cache
def _made(
    agreed: tuple[tuple[str, bool], ...] | None, louder_s: tuple[float, float] | None
) -> TemporaryDirectory[str]:
    """A folder with such a session, which many tests want a copy of."""
    folder = TemporaryDirectory(prefix="labapp-tests-exchanged-", dir=TEMPORARY)
    root, uses = Path(folder.name), None if agreed is None else dict(agreed)
    tone = (QUIET * np.sin(np.arange(RATE * 70) * 0.1)).astype(np.int16)
    first = Take(tone.copy(), 1.0, ppm=120.0)
    if louder_s is not None:
        begin, end = (round((t - first.start_s) * first.true_rate) for t in louder_s)
        first.samples[begin:end] *= 2
    takes = first, Take(tone[: RATE * 40], 80.0, ppm=-60.0)
    session = sounding_session(root, *takes, end_s=125, uses=uses)
    book = codebooks.read(add_codebook(session.parent))
    add_units(session, 18)
    units = annotations_of(open_record(session)).segmentation.units
    with open_marks(session, "anna", book) as file:
        file.give("explore", unit=units[0].id, memo='a <b> & "c" 🙂')
        file.give("goal", unit=units[1].id)
        file.give("sure", unit=units[1].id, value=4)
        file.give("uncertain", t0_ns=3 * SECOND, t1_ns=9_500_000_123)
        file.give("uncertain", t0_ns=5 * SECOND, t1_ns=12_500_000_123)
        file.give("insight", t0_ns=5_500_000_000)
        file.give("uncertain", t0_ns=90 * SECOND, t1_ns=95_000_000_789)
        file.give("goal", unit=units[15].id)
    return folder


def export(session: Path, name: str, out: Path, **how: object) -> Exported:
    """Anna's coding as a file in a format."""
    return export_coding(open_record(session), "anna", FORMATS[name], out, **how)  # type: ignore[arg-type]


def plan(session: Path, file: Path, rater: str = "anna", **how: object) -> ImportPlan:
    """What a file would change; all that is told has a code, to be said in any language."""
    made = plan_import(open_record(session), rater, read(file), **how)  # type: ignore[arg-type]
    assert all(isinstance(why, Message) for why in (*made.times, *made.lost))
    return made


def marks_in(session: Path, rater: str = "anna") -> dict[str, Mark]:
    """A rater's marks by their ids, as they are on the disk."""
    raters = annotations_of(open_record(session)).raters
    return {mark.id: mark for mark in raters[rater].marks} if rater in raters else {}
