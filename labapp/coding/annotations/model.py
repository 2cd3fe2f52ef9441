"""The records of an annotated session: units, text, marks and redactions.

All times are session times in nanoseconds, as in the journal, and stretches are half-open: the end
does not belong to them. Nothing here reads or writes a file.

Where annotations lie: in the study's folder, beside the folders of its sessions.

Session times as people write them: 12:34.5.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from labapp.base.clock import NS
from labapp.base.errors import RaterRefused, UsageError
from labapp.base.naming import find_name_problem

WRITTEN = re.compile(r"(?:(?:(\d{1,3}):)?(\d{1,3}):)?(\d{1,6})(?:[.,](\d{1,9}))?")


def time_ns(text: str) -> int:
    """A session time in ns, of hours, minutes and seconds (1:02:03.5), of minutes and seconds
    (12:34.5), or of seconds (754.5). Raises UsageError for anything else."""
    match = WRITTEN.fullmatch(text.strip())
    hours, minutes, seconds, rest = match.groups() if match else (None,) * 4
    too_large = minutes is not None and int(seconds or 0) > 59
    too_large |= hours is not None and int(minutes or 0) > 59
    if match is None or too_large:
        raise UsageError(
            f"{text!r} is not a time in a session.",
            todo="Write minutes and seconds as in 12:34.5, hours too as in 1:02:03, or seconds "
            "as in 754.5.",
        )
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return whole * NS + int((rest or "0").ljust(9, "0"))


def time_text(t_ns: int, digits: int = 1) -> str:
    """A session time as 12:34.5, with hours if there are any; cut, not rounded, so that what is
    written is not after what is meant."""
    sign, t_ns = ("-", -t_ns) if t_ns < 0 else ("", t_ns)
    seconds, rest = divmod(t_ns, NS)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{rest:09d}"[: digits + 1] if digits else ""
    hour = f"{hours}:{minutes:02d}" if hours else f"{minutes}"
    return f"{sign}{hour}:{seconds:02d}{fraction}"


Speaker = Literal["participant", "moderator", "other"]
"""Who speaks in a unit."""
SPEAKERS: tuple[str, ...] = get_args(Speaker)

Round = Literal["training", "independent", "reconciled"]
"""What a coding is for: to learn the codebook, to measure agreement before anybody has talked about
it, or to settle what differed."""
ROUNDS: tuple[str, ...] = get_args(Round)

Status = Literal["draft", "done", "locked"]
"""Of a rater's marks in a session: still being given, given, or beyond any change."""
STATUSES: tuple[str, ...] = get_args(Status)

Blinding = Literal["names", "outcomes", "future", "screen"]
"""What a rater is not shown: names of models and conditions, how questions ended, what comes after
the playhead, the participant's screen."""
BLINDINGS: tuple[str, ...] = get_args(Blinding)


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch of speech that is coded as a whole, of the one segmentation of a session.

    Attributes
    ----------
    id : unique in its session; it never changes, and is never used again.
    t0_ns, t1_ns : session time.
    origin : what set its boundaries: `detector`, `hand`, `import` or `simulated`.
    reaction_ms : what was taken off the times of the keys that set its boundaries by hand.
    """

    id: str
    t0_ns: int
    t1_ns: int
    speaker: Speaker = "participant"
    origin: str = "hand"
    reaction_ms: int = 0


Doubt = Literal["repeated", "unsure", "quiet"]
"""Why a text that a recogniser wrote may be invented: it says the same again and again; it was not
sure of its words; nobody is heard where words are."""
DOUBTS: tuple[str, ...] = get_args(Doubt)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, when it was said, and how sure a recogniser was, from 0 to 1."""

    t0_ns: int
    t1_ns: int
    text: str
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """What was said in a unit, of the one text of a session.

    Attributes
    ----------
    words : with their times, if these are known.
    origin : `hand`, `recogniser`, `import` or `simulated`.
    by : who wrote or corrected it last.
    reviewed : whether a person has read it against the sound.
    doubts : of what a recogniser wrote, see `Doubt`; none of what a person wrote or corrected.
    """

    unit: str
    text: str
    words: tuple[Word, ...] = ()
    origin: str = "hand"
    by: str = ""
    reviewed: bool = False
    doubts: tuple[Doubt, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A code that a rater gave.

    Attributes
    ----------
    t0_ns, t1_ns : session time; equal for a point. Of a mark on a unit, those of the unit.
    unit : the id of the unit; None for a free span or point.
    value : on a tier with values.
    codebook : SHA-256 of the version of the codebook with which it was given.
    blind : what its rater was not shown, see `Blinding`.
    """

    id: str
    rater: str
    tier: str
    code: str
    t0_ns: int
    t1_ns: int
    unit: str | None = None
    value: int | None = None
    memo: str = ""
    codebook: str = ""
    round: Round = "independent"
    blind: tuple[Blinding, ...] = ("names", "outcomes", "future")
    utc: str = ""


@dataclass(frozen=True, slots=True)
class Redaction:
    """A stretch of which neither sound nor words leave the lab. replacement: what stands for its
    words."""

    id: str
    t0_ns: int
    t1_ns: int
    replacement: str = "[…]"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change of frozen units that their owner has not settled yet.

    Attributes
    ----------
    what : `split`, `merge`, `move`, `add` or `remove`.
    removed : ids of the units that would go.
    put : those that would come, or stand elsewhere.
    """

    id: str
    what: str
    removed: tuple[str, ...] = ()
    put: tuple[Unit, ...] = ()
    by: str = ""
    reason: str = ""
    utc: str = ""


@dataclass(frozen=True, slots=True)
class Segmentation:
    """The units of a session in order of time.

    Attributes
    ----------
    frozen : whether they may be coded: from then on they change only by accepted proposals.
    by : who froze them, or made them last.
    proposals : changes that wait for the person who froze them, oldest first.
    speakers_by : str
        Who said that the speakers of the units are right as they are; empty if nobody did.
    """

    units: tuple[Unit, ...] = ()
    frozen: bool = False
    by: str = ""
    proposals: tuple[Proposal, ...] = ()
    speakers_by: str = ""

    @property
    def speakers_said(self) -> bool:
        """Whether anybody said who speaks. Loudness does not tell, so that units made from the
        sound, or brought in without speakers, are all taken for the participant's until then."""
        made = {unit.origin for unit in self.units}
        others = any(unit.speaker != "participant" for unit in self.units)
        return bool(self.speakers_by) or others or made <= {"hand", "simulated"}

    def unit(self, unit_id: str) -> Unit | None:
        """The unit of that id; None if there is none."""
        return next((unit for unit in self.units if unit.id == unit_id), None)


@dataclass(frozen=True, slots=True)
class RaterMarks:
    """All marks of a rater in a session.

    Attributes
    ----------
    marks : in order of time, those taken back left out.
    status : of the round that was opened last: `draft` or `done`; `locked` once nothing may change
        any more, for agreement was computed.
    machine : whether no person gave them, such as the moderator's flags taken from the journal.
    codebook : SHA-256 of the codebook by which its file was opened last.
    """

    rater: str
    marks: tuple[Mark, ...] = ()
    status: Status = "draft"
    machine: bool = False
    codebook: str = ""
    round: Round = "independent"
    statuses: Mapping[str, Status] = field(default_factory=dict)

    def status_of(self, round_: str) -> Status:
        """How far a round is."""
        return self.statuses.get(round_, self.status if round_ == self.round else "draft")


@dataclass(frozen=True, slots=True)
class Settlement:
    """What was agreed of a disagreement between raters, by a named adjudicator, and why.

    Attributes
    ----------
    t0_ns, t1_ns : session time of the disagreement: of its unit, or of the spans that differ.
    unit : the id of the unit; None for spans and points.
    marks : what holds instead; empty if nothing was to be coded.
    """

    id: str
    tier: str
    t0_ns: int
    t1_ns: int
    unit: str | None
    of: tuple[str, ...]
    marks: tuple[Mark, ...]
    by: str
    reason: str
    utc: str = ""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A stretch of a session that a rater codes. role: `primary`: the coding that counts if
    nothing was settled; `second`: the stretch is coded a second time, so that agreement can be
    measured."""

    session: str
    rater: str
    t0_ns: int
    t1_ns: int
    role: Literal["primary", "second"] = "primary"
    round: Round = "independent"
    draw: str = ""

    def covers(self, t_ns: int) -> bool:
        """Whether something that begins at that session time is part of the stretch."""
        return self.t0_ns <= t_ns < self.t1_ns


@dataclass(frozen=True, slots=True)
class SessionAnnotations:
    """Everything that was said about a session after its end. texts: by the ids of their units;
    remarks: what a crash cut off at the end of a file, in words."""

    session: str
    segmentation: Segmentation = field(default_factory=Segmentation)
    texts: Mapping[str, Text] = field(default_factory=dict)
    raters: Mapping[str, RaterMarks] = field(default_factory=dict)
    redactions: tuple[Redaction, ...] = ()
    settlements: tuple[Settlement, ...] = ()
    remarks: tuple[str, ...] = ()


ANNOTATIONS = "annotations"
CODEBOOKS = "codebooks"
RATERS = "raters"
UNITS = "units.jsonl"
TRANSCRIPT = "transcript.jsonl"
LINES = ".jsonl"

MODERATOR = "moderator"
"""The rater whose marks are the flags, notes and prompts of the journal."""
SIMULATED = "simulated"
"""The rater whose marks are those of a simulated participant's words; final if no person
coded."""
DETECTOR = "detector"
"""The origin of units that were made from the sound; and who made them, if nobody looked."""
RECOGNISER = "recogniser"
"""The origin of a text that a program wrote from the sound; and who wrote it."""
FINAL = "final"
"""The coding that counts, as commands name it: no rater's own."""
KEPT = {
    DETECTOR: "units that were made from the sound and that nobody has checked",
    RECOGNISER: "text that a program wrote from the sound",
    MODERATOR: "what the moderator wrote down during the session",
    SIMULATED: "the codes of what simulated participants say",
    FINAL: "the codes that count after raters have settled their differences",
}
"""Names that no rater can have, and what they stand for."""
RATER = re.compile(r"[A-Za-z0-9_-]{1,40}")


def annotations_folder(session: Path) -> Path:
    """The folder of a session's annotations; it need not exist. session: its own folder."""
    session = session.absolute()
    return session.parent / ANNOTATIONS / session.name


def session_of(path: Path) -> Path:
    """The session's folder that a file in the folder of its annotations is about."""
    folder = path.absolute().parent
    return folder.parent.parent / folder.name


def codebook_versions(study: Path) -> Path:
    """The folder with every version of a codebook that marks of this study were given by."""
    return study / ANNOTATIONS / CODEBOOKS


def rater_file(session: Path, rater: str) -> Path:
    """The file of a rater's marks in a session."""
    return annotations_folder(session) / RATERS / f"{rater}{LINES}"


def rater_names(study: Path) -> dict[str, str]:
    """The raters of a study as their files are called, by their names in small letters."""
    paths = sorted((study / ANNOTATIONS).glob(f"*/{RATERS}/*{LINES}"))
    return {path.stem.casefold(): path.stem for path in paths}


def check_rater(
    name: str, study: Path | None = None, others: Iterable[str] = (), *, nobody: str = ""
) -> str:
    """A name that a rater can have. Raises RaterRefused: the name is too long, holds other
    characters, is taken, or no file can have it.

    Parameters
    ----------
    study : the study's folder: another rater of it may not have the same name in other letters.
    others : raters of it who need not have a file yet, such as those who are assigned to something.
    nobody : the name of a program that it may be, such as the detector's.
    """
    if not RATER.fullmatch(name):
        raise RaterRefused(
            f"{name!r} cannot be a rater's name.",
            todo="Use 1 to 40 letters a to z, digits, - and _, such as anna or rater-2.",
        )
    if nobody and name == nobody:
        return name
    if name.casefold() in KEPT:
        raise RaterRefused(
            f"The name {name!r} is reserved for {KEPT[name.casefold()]}.",
            todo="Choose another name, such as anna or rater-2.",
        )
    if why := find_name_problem(name):
        raise RaterRefused(f"No rater can be called {name!r}: {why}.", todo="Take another name.")
    if study is not None:
        names = {other.casefold(): other for other in others} | rater_names(study)
        known = names.get(name.casefold(), name)
        if known != name:
            raise RaterRefused(
                f"There is a rater {known!r} in this study, and some systems cannot distinguish "
                f"{name!r} from it.",
                todo=f"Write {known!r}, or choose another name.",
            )
    return name
