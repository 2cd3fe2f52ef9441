"""Redacted stretches: silence in every sound that leaves the lab, and their words nowhere.

A stretch is taken a frame wider on either side than its times say, so that rounding never lets a
sample of it through.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import AnnotationError, RecordError
from labapp.coding.annotations.model import RaterMarks, Redaction, Text, Unit
from labapp.record.journal import anchor
from labapp.record.journal.record import Record


def redacted(
    samples: NDArray[np.int16], t0_ns: int, rate: float, redactions: Iterable[Redaction]
) -> NDArray[np.int16]:
    """Sound with zeros where it is redacted.

    Parameters
    ----------
    samples : ndarray of int16, shape (n,)
        Frames that follow on each other in session time; left as they are.
    t0_ns : session time of the first frame.
    rate : frames per second of session time, in Hz.
    redactions : in any order; those beside the sound are passed over.

    Returns
    -------
    ndarray of int16, shape (n,)
        The samples themselves where nothing of them is redacted, else a copy.
    """
    spans = redacted_frames(len(samples), t0_ns, rate, redactions)
    if not spans:
        return samples
    silent = samples.copy()
    for begin, end in spans:
        silent[begin:end] = 0
    return silent


def redacted_frames(
    frames: int, t0_ns: int, rate: float, redactions: Iterable[Redaction]
) -> list[tuple[int, int]]:
    """Which frames are silent, as ranges in order that neither touch nor overlap; their ends are
    outside. See `redacted`."""
    ranges = []
    for redaction in redactions:
        begin = max(0, math.floor((redaction.t0_ns - t0_ns) * rate / 1e9) - 1)
        end = min(frames, math.ceil((redaction.t1_ns - t0_ns) * rate / 1e9) + 1)
        if begin < end:
            ranges.append((begin, end))
    return joined(ranges)


def joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Half-open ranges in order, those that touch or overlap made one."""
    result: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((begin, end))
    return result


def anchored_redactions(record: Record) -> tuple[Redaction, ...]:
    """Stretches of a session that its data folder knows to be redacted, whatever the session's own
    file says. A bundle has none: what was redacted is gone there. Raises AnnotationError."""
    if record.kind != "session":
        return ()
    try:
        known = anchor.redactions(Path(record.source))
        return tuple(Redaction(**redaction) for redaction in known)
    except (RecordError, TypeError) as error:
        what = error.what if isinstance(error, RecordError) else str(error)
        raise AnnotationError(
            f"Nobody can tell what is redacted of {record.name}: {what}",
            safe="No sound or text was released.",
            todo="Put back a copy of the anchor of the data folder.",
        ) from error


def is_redacted(t0_ns: int, t1_ns: int, redactions: Sequence[Redaction]) -> bool:
    """Whether a stretch shares time with a redacted one; a point where it lies in one."""
    return any(
        redaction.t0_ns < max(t1_ns, t0_ns + 1) and t0_ns < redaction.t1_ns
        for redaction in redactions
    )


def without_words(text: Text, t0_ns: int, t1_ns: int, redactions: Sequence[Redaction]) -> Text:
    """A text without the words that were said in redacted stretches of its unit.

    Words whose times are known go one by one, and the replacement stands there. Where the text
    has no times for its words, or they do not make up the text, nobody can tell which of them were
    said in the stretch: the whole text goes.

    Parameters
    ----------
    text : of a unit.
    t0_ns, t1_ns : session time of the unit.
    redactions : of the session.
    """
    within = [r for r in redactions if is_redacted(t0_ns, t1_ns, (r,))]
    if not within or not text.text:
        return text
    spoken = text.text
    for redaction in within:
        spoken = spoken.replace(redaction.replacement, "")
    if not text.words or _squeezed("".join(w.text for w in text.words)) != _squeezed(spoken):
        return replace(text, text=within[0].replacement, words=())
    left = tuple(w for w in text.words if not is_redacted(w.t0_ns, w.t1_ns, within))
    parts = [(word.t0_ns, 1, word.text.strip()) for word in left]
    for redaction in within:
        hit = any(is_redacted(w.t0_ns, w.t1_ns, (redaction,)) for w in text.words)
        # A word that was taken out before is not among the words any more, and its place is known.
        if hit or redaction.replacement in text.text:
            parts.append((redaction.t0_ns, 0, redaction.replacement))
    return replace(text, text=" ".join(part for *_, part in sorted(parts) if part), words=left)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def shown_texts(
    texts: Mapping[str, Text],
    units: Mapping[str, Unit],
    redactions: Sequence[Redaction],
    *,
    allowed: bool = True,
) -> dict[str, Text]:
    """The texts that may be shown: of units that there are, without redacted words. allowed:
    whether the participant agreed that what was said is written down; else there are none."""
    if not allowed:
        return {}
    return {
        name: without_words(text, units[name].t0_ns, units[name].t1_ns, redactions)
        for name, text in texts.items()
        if name in units
    }


def without_memos(rater: RaterMarks, redactions: Sequence[Redaction]) -> RaterMarks:
    """A rater's marks without the remarks on those in redacted stretches: they may quote what was
    said there."""
    if not redactions:
        return rater
    marks = tuple(
        replace(mark, memo="")
        if mark.memo and is_redacted(mark.t0_ns, mark.t1_ns, redactions)
        else mark
        for mark in rater.marks
    )
    return replace(rater, marks=marks)
