"""The columns of the tables of what was said and how it was coded."""

from __future__ import annotations

from collections.abc import Mapping

from labapp.analysis.column import INCLUDED, TRIAL, WHO, number, seconds, text, whole, yes
from labapp.analysis.task_records import Columns

NOT_AGREED, REDACTED, NOT_WRITTEN = "not_agreed", "redacted", "not_written"
WITHHELD = {
    NOT_AGREED: "the participant did not agree that what was said is written down",
    REDACTED: "some or all of it was redacted",
    NOT_WRITTEN: "nobody has written it down, or the copy is without it",
}
"""Why words are not there."""

AROUND_S = 5
"""Seconds before its onset and after its offset in which moves are around a mark."""

_TIMES = (
    seconds("onset_s", "session time (pauses included) of the onset"),
    seconds("offset_s", "session time of the offset; of a point its onset"),
    seconds("onset_working_s", "the onset in working time: without pauses and gaps"),
    seconds("offset_working_s", "the offset in working time"),
)
_PLACE = (
    text("stage", "part that ran at the onset"),
    text("model", "what that stage is about; empty outside of stages"),
    *TRIAL,
    text("conditions", "the study's variables for this participant, drawn cells in their order"),
)
_WORDS = (
    text("text", "the words, where they may be written down; redacted ones are replaced"),
    text("text_withheld", "; ".join(f"{why}: {meaning}" for why, meaning in WITHHELD.items())),
)
_READ = yes(
    "reviewed",
    "a person wrote the text, corrected it, or read it against the sound; no other is quoted",
)
_LOST = (
    seconds("paused_s", "how much of it lies in pauses, breaks and gaps"),
    seconds("sound_lost_s", "of how much of it the sound was lost; empty without a recording"),
)
_SPEAKER = text(
    "speaker",
    "participant, moderator or other: of the unit; of a mark without a unit, of the one that it "
    "shares most time with, and empty where there is none",
)

UTTERANCES = (
    *WHO,
    text("unit", "id of the unit of speech"),
    _SPEAKER,
    text("origin", "what set its boundaries: detector, hand, import or simulated"),
    *_TIMES,
    *_PLACE,
    *_WORDS,
    whole("n_words", "how many words its text has"),
    text("text_origin", "who wrote it: hand, recogniser, import or simulated"),
    _READ,
    yes(
        "speakers_said",
        "somebody said who speaks in the session; where nobody did, all its units count as the "
        "participant's, no matter who spoke",
    ),
    *_LOST,
    INCLUDED,
)

_MARK = (
    text("mark", "id of the mark in its session"),
    text("rater", "who gave it"),
    text("round", "training, independent or reconciled"),
    text("tier", "tier of the codebook"),
    text("code", "id of the code"),
    text(
        "code_name",
        "what the version of the codebook calls it by which it was given; empty where that is not "
        "known",
    ),
    whole("value", "on a tier with values"),
    text("unit", "id of the unit it is on; empty for a stretch or point of its own"),
    _SPEAKER,
    *_TIMES,
)
_FROM = (
    text("memo", "the rater's remark on it, where words may be written down"),
    text("codebook", "SHA-256 of the version of the codebook by which it was given"),
    INCLUDED,
)

CODES_ALL = (
    *WHO,
    *_MARK,
    yes("machine", "no person gave it: a flag or note of the journal, or simulated speech"),
    text("status", "of the rater's work on the session: draft, done or locked"),
    text("blind", "what the rater was not shown: names, outcomes, future, screen"),
    *_FROM,
)

CODES = (*WHO, *_MARK, *_FROM)

CODED = (
    *WHO,
    *_MARK,
    *_PLACE,
    number("alignment_onset", "alignment on the screen at the onset; empty before there is one"),
    number("alignment_offset", "alignment at the offset, or at the trial's end before it"),
    number("alignment_gain", "alignment at the offset minus at the onset; empty for a point"),
    whole("dial_moves", "moves of dials of the trial from onset to offset"),
    whole(
        "dial_moves_around",
        f"moves of dials of the trial from {AROUND_S} s before the onset to {AROUND_S} s after the "
        "offset",
    ),
    text("dials_touched", "numbers of the dials that these moves turned, from 1, with ; between"),
    text("outcome", "of the trial at the onset, as in the table trials"),
    yes("solved", "that trial was solved; empty where it cannot be"),
    yes("skipped", "the participant skipped it"),
    yes("correct", "its answer was right; empty where there is none"),
    seconds("response_s", "its response time: from its appearance to the answer, Next or Skip"),
    yes("excluded", "the trial is not counted in the stage's metrics"),
    *_LOST,
    *_WORDS,
    _READ,
    INCLUDED,
)

TABLES: Mapping[str, Columns] = {
    "utterances": UTTERANCES,
    "codes_all": CODES_ALL,
    "codes": CODES,
    "coded": CODED,
}
