"""The README of a bundle: what it holds, in words."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from labapp.bids.redaction import AGREED_LIST
from labapp.plugins import registry

_BODY = """\
# {title}

{sessions} of {participants} in the study `{study}`, recorded with labapp and exported as a
BIDS dataset (behavioural data). Every time is in seconds since the session began.

## Where things are

* `participants.tsv`: who took part; `sub-*/sub-*_sessions.tsv`: when, how each session ended, and
  the quality of its recording. A session whose state is not `complete` is not whole.
{tasks}
* `phenotype/`: questionnaires, a row a participant.
* `sourcedata/labapp/`: everything else. `codebook.json` describes every kind of event and every
  column; `manifest.json` has the SHA-256 and size of every file; `models/` has the model cards.
  `sub-*/ses-*/` has, for each session, the journal (`journal.parquet`: every event, verbatim, with
  its hash chain), the study as it was used (`study/`), `environment.json`, the sound, and the
  pictures of the stimulus sets as they were shown, each named by its SHA-256 (`stimuli/`). Where
  somebody coded what was said, `annotations/` has the units (`units.jsonl`), their text
  (`transcript.jsonl`), a file of marks a rater (`raters/`), what was settled between raters
  (`settlements.jsonl`), who coded what (`assignments.jsonl`) and the codebooks: lines of JSON,
  times in nanoseconds. Redacted stretches are in `transcript.jsonl`; their words are nowhere, and
  their sound is silent.

A cell of text in a table that begins with = + - or @ stands behind an apostrophe, so that no
spreadsheet program carries it out; the journal has every text verbatim.

Durations named working durations, and all durations in `_beh.tsv`, leave out pauses, breaks and the
gaps after crashes. A session of several runs (segments) has a sound file for each.

## Sound

{sound}
{video}
## Privacy

The consent form and the table of names and pseudonyms are kept apart and are not part of this
bundle.

{privacy}

## Checking

`labapp sessions verify` on this folder finds every byte that was changed since the export, and
checks the hash chain of each journal. Made with labapp {version}.
"""

_OF_SESSION = (
    "`*_task-session_events.tsv`: runs of the program, parts of the plan, pauses, answers, the "
    "moderator's notes and flags, and the state of the sound."
)
_SOUND = """\
`audio/*.wav` is the microphone, at the nominal rate of the device. `audio/clock.json` places it on
the timeline of the events: `t = offset + frame / rate`, with the rate fitted to the clock of the
computer, and the residual of that fit."""

_VIDEO = """
## Video

`annotations/videos/` of a session has videos of its participant, who agreed to that, and
`videos.jsonl`, which says where each lies on the timeline of the events:
`t = offset_s + video time · (1 + drift_ppm / 1,000,000)`, by the sound that is in both, with the
residual of that fit, or by hand. A face identifies.
"""
_UNSHARED = """
The sound of these sessions was left out, for their participants did not agree that it is passed
on: {names}."""

_NO_SOUND = "The sound was left out of this bundle."
_SILENT = "There is no sound in this bundle."

_IDENTIFIED = """\
This bundle was NOT de-identified: notes, names given to dials and answers are as they were
recorded. Its journals carry the hash chain of the recording."""

_DEIDENTIFIED = f"""\
This bundle was de-identified by an agreed list:

{AGREED_LIST}

Rows that were reduced are marked in the journal (`redacted`). The hash chain was made anew over the
reduced rows: it shows that nothing changed since the export, not since the recording. The
original hashes are left out on purpose, because they would let anybody test guesses of what was
withheld. The lab can make the same copy from the original journal again."""

_VOICE = " A voice can be recognised: the sound in this bundle identifies the person who speaks."


def readme(
    *,
    study: str,
    title: str,
    sessions: int,
    participants: int,
    audio: bool,
    heard: bool,
    deidentified: bool,
    version: str,
    unshared: Sequence[str] = (),
    shown: bool = False,
) -> str:
    """The text of the README. audio: whether sound was to be in the bundle; heard: whether any is;
    version: of labapp; unshared: sessions whose sound may not be passed on; shown: whether
    there is a video."""
    sound = _SOUND if heard else _SILENT if audio else _NO_SOUND
    if audio and unshared:
        sound += _UNSHARED.format(names=", ".join(unshared))
    privacy = _DEIDENTIFIED if deidentified else _IDENTIFIED
    tasks = [files.introduction for files in registry.task_files() if files.introduction]
    return _BODY.format(
        tasks=textwrap.fill(
            " ".join((*tasks, _OF_SESSION)),
            width=100,
            initial_indent="* ",
            subsequent_indent="  ",
            break_on_hyphens=False,
            break_long_words=False,
        ),
        title=title,
        study=study,
        sessions=_count(sessions, "session"),
        participants=_count(participants, "participant"),
        sound=sound,
        video=_VIDEO if shown else "",
        privacy=privacy + (_VOICE if deidentified and heard else ""),
        version=version,
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
