"""The one text of a session, and what of it is redacted: their file, folded and open for work.

Redacted stretches: silence in every sound that leaves the lab, and their words nowhere.

A stretch is taken a frame wider on either side than its times say, so that rounding never lets a
sample of it through.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from labapp.base.errors import AnnotationError, RecordError
from labapp.base.messages import Message
from labapp.coding.annotations import ledger
from labapp.coding.annotations.ledger import (
    IMPORTED,
    EditedFile,
    Entry,
    Line,
    body_of,
    in_order,
    new_id,
    record_from,
    text_in,
)
from labapp.coding.annotations.marks import TOMBSTONE
from labapp.coding.annotations.model import RaterMarks, Redaction, Text, Unit, session_of
from labapp.record.journal import anchor
from labapp.record.journal.record import Record

OPENED = "texts.opened"
PUT = "text.put"
REMOVED = "text.removed"
REDACTED = "redact.put"
UNREDACTED = "redact.removed"
RECOGNISED = "recogniser.used"


class TextsFold:
    """The texts of a session: those of its file, over those that its journal has. anchored:
    stretches that are redacted whatever the file says; recognisers: programs that wrote texts, by
    their ids."""

    def __init__(self, texts: Iterable[Text] = (), anchored: Iterable[Redaction] = ()) -> None:
        self.anchored = tuple(anchored)
        self.texts = {text.unit: text for text in texts}
        self.redactions: dict[str, Redaction] = {}
        self.recognisers: dict[str, Mapping[str, Any]] = {}
        self.opened: Mapping[str, Any] = {}

    def apply(self, line: Line) -> None:
        """Take in the next line. Raises ValueError."""
        if line.kind == PUT:
            text = record_from(Text, line.body)
            self.texts[text.unit] = text
        elif line.kind == REMOVED:
            self.texts.pop(text_in(line.body, "unit"), None)
        elif line.kind == REDACTED:
            redaction = record_from(Redaction, line.body)
            in_order(redaction.t0_ns, redaction.t1_ns - 1)
            self.redactions[redaction.id] = redaction
        elif line.kind == UNREDACTED:
            self.redactions.pop(text_in(line.body, "id"), None)
        elif line.kind == RECOGNISED:
            self.recognisers[text_in(line.body, "id")] = line.body
        elif line.kind == OPENED:
            text_in(line.body, "by")
            self.opened = line.body
        elif line.kind not in (TOMBSTONE, IMPORTED):
            raise ValueError("it was written by a newer version of labapp")

    def sort_redactions(self) -> tuple[Redaction, ...]:
        """In order of time."""
        every = {*self.redactions.values(), *self.anchored}
        return tuple(sorted(every, key=lambda r: (r.t0_ns, r.t1_ns, r.id)))


class TextsFile(EditedFile):
    """The text of a session, open for work.

    Attributes
    ----------
    by : who works on it.
    allowed : whether the participant agreed to a transcript.
    """

    OPENED = OPENED

    def __init__(
        self,
        path: Path,
        by: str,
        *,
        fold: TextsFold,
        checked: Callable[[], None] | None = None,
        allowed: bool = True,
        patience_s: float = 0.0,
    ) -> None:
        """As `EditedFile`. allowed: whether the participant agreed to a transcript."""
        self.by = self.who = by
        self.allowed = allowed
        self._texts = fold
        super().__init__(path, fold, checked, patience_s)

    def _inverse(self, kind: str, body: Mapping[str, Any]) -> Sequence[Entry] | None:
        if kind in (IMPORTED, RECOGNISED):
            return ()
        return (self._as_before(str(body.get("unit"))),) if kind in (PUT, REMOVED) else None

    @property
    def texts(self) -> dict[str, Text]:
        """By the ids of their units."""
        return dict(self._texts.texts)

    @property
    def redactions(self) -> tuple[Redaction, ...]:
        """In order of time."""
        return self._texts.sort_redactions()

    def put(self, text: Text) -> Text:
        """Write what was said in a unit, as the person who has the file open. Raises
        AnnotationError."""
        return self.put_all((text,))[0]

    def put_all(
        self, texts: Iterable[Text], source: Mapping[str, Any] | None = None
    ) -> tuple[Text, ...]:
        """Write texts as one change. source: the file of another tool that they came from. Raises
        AnnotationError, also if the participant did not agree to a transcript."""
        if not self.allowed:
            raise AnnotationError(Message("text_not_agreed"), todo=Message("text_not_agreed_todo"))
        written = tuple(replace(text, by=self.by) for text in texts)
        about = [] if source is None else [(IMPORTED, dict(source))]
        self._do(
            [*about, *((PUT, body_of(text)) for text in written)],
            [self._as_before(text.unit) for text in reversed(written)],
        )
        return written

    def note_recogniser(self, facts: Mapping[str, Any]) -> None:
        """Write down which program writes the texts that follow, if that is not said yet.

        Parameters
        ----------
        facts : mapping of str to value
            Its `id`, which no other has, and what else is to be known of it.
        """
        if dict(self._texts.recognisers.get(str(facts["id"]), {})) != dict(facts):
            self._append([(RECOGNISED, facts)])

    def review(self, unit: str, reviewed: bool = True) -> Text:
        """Say that a person has read a text against the sound. Raises AnnotationError if the
        unit has none."""
        text = self._texts.texts.get(unit)
        if text is None:
            raise AnnotationError(
                Message("text_unwritten", unit=repr(unit)), todo=Message("text_unwritten_todo")
            )
        return self.put(replace(text, reviewed=reviewed))

    def redact(self, redaction: Redaction) -> None:
        """Let neither sound nor words of a stretch leave the lab. Raises AnnotationError."""
        if not 0 <= redaction.t0_ns < redaction.t1_ns:
            raise AnnotationError(
                Message("redaction_empty"), todo=Message("end_before_beginning_todo")
            )
        before = self._texts.redactions.get(redaction.id)
        inverse: Entry = (UNREDACTED, {"id": redaction.id})
        if before is not None:
            inverse = (REDACTED, body_of(before))
        self._do([(REDACTED, body_of(redaction))], [inverse])

    def restore_redactions(self) -> None:
        """Record again which stretches are redacted, if the file has lost this. Raises
        AnnotationError."""
        known = self._texts.redactions
        for redaction in self._texts.anchored:
            if redaction not in known.values():
                name = new_id() if redaction.id in known else redaction.id
                self.redact(replace(redaction, id=name))

    def _append(self, entries: list[Entry]) -> list[Line]:
        """As `EditedFile`; what is redacted is in the anchor before it is in the file, and what is
        not any more, after."""
        self._note(entry for entry in entries if entry[0] == REDACTED)
        lines = super()._append(entries)
        self._note(entry for entry in entries if entry[0] == UNREDACTED)
        return lines

    def _note(self, entries: Iterable[Entry]) -> None:
        session = session_of(self.path)
        for kind, body in entries:
            known = tuple(r for r in self._texts.anchored if r.id != str(body["id"]))
            redaction = {
                key: body[key] for key in ("id", "t0_ns", "t1_ns", "replacement") if key in body
            }
            try:
                anchor.note_redaction(session, redaction, taken_back=kind == UNREDACTED)
            except OSError as error:
                raise ledger.unwritable(self.path, error) from error
            if kind == REDACTED:
                known = (*self._texts.anchored, record_from(Redaction, redaction))
            self._texts.anchored = known

    def _as_before(self, unit: str) -> Entry:
        before = self._texts.texts.get(unit)
        return (REMOVED, {"unit": unit}) if before is None else (PUT, body_of(before))


def may_be_quoted(text: Text) -> bool:
    """Whether words may stand for what somebody said: a person wrote them, corrected them, or read
    them against the sound. This is the one rule for quotes, de-identified bundles, the report and
    exports; what a model wrote, or a file of another tool brought in, is a draft until then."""
    return text.reviewed


def correct_text(text: Text | None, unit: str, words: str, by: str, origin: str = "hand") -> Text:
    """A text with other words: those that stayed keep the times at which they were said."""
    from difflib import SequenceMatcher

    if text is None:
        return Text(unit, words, (), origin, by, reviewed=True)
    old = [word.text for word in text.words]
    matcher = SequenceMatcher(a=old, b=words.split(), autojunk=False)
    saved = tuple(
        word
        for block in matcher.get_matching_blocks()
        for word in text.words[block.a : block.a + block.size]
    )
    return Text(unit, words, saved, origin, by, reviewed=True)


def find_redacted_frames(
    frames: int, t0_ns: int, rate: float, redactions: Iterable[Redaction]
) -> list[tuple[int, int]]:
    """Which frames are silent, as ranges in order that neither touch nor overlap; their ends are
    outside. t0_ns: session time of the first frame; rate: frames per second of session time."""
    ranges = []
    for redaction in redactions:
        begin = max(0, math.floor((redaction.t0_ns - t0_ns) * rate / 1e9) - 1)
        end = min(frames, math.ceil((redaction.t1_ns - t0_ns) * rate / 1e9) + 1)
        if begin < end:
            ranges.append((begin, end))
    return join_ranges(ranges)


def join_ranges(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Half-open ranges in order, those that touch or overlap made one."""
    result: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((begin, end))
    return result


def read_anchored_redactions(record: Record) -> tuple[Redaction, ...]:
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
            f"It cannot be determined what is redacted in {record.name}: {what}",
            safe="No sound or text was released.",
            todo="Restore a copy of the data folder's anchor.",
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
    if not text.words or _remove_blanks("".join(w.text for w in text.words)) != _remove_blanks(
        spoken
    ):
        return replace(text, text=within[0].replacement, words=())
    left = tuple(w for w in text.words if not is_redacted(w.t0_ns, w.t1_ns, within))
    parts = [(word.t0_ns, 1, word.text.strip()) for word in left]
    for redaction in within:
        hit = any(is_redacted(w.t0_ns, w.t1_ns, (redaction,)) for w in text.words)
        # A word that was taken out before is not among the words any more, and its place is known.
        if hit or redaction.replacement in text.text:
            parts.append((redaction.t0_ns, 0, redaction.replacement))
    return replace(text, text=" ".join(part for *_, part in sorted(parts) if part), words=left)


def _remove_blanks(text: str) -> str:
    return "".join(text.split())


def select_visible_texts(
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
