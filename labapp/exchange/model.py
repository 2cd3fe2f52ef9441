"""What goes out to another tool, what comes back, and what a format can carry.

Times here are in nanoseconds of the file that they are for: of one sound file, or of the session
where no sound is linked. `labapp.exchange.clocks` goes between these and session time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from labapp.annotations.codebook import Codebook
from labapp.annotations.model import Speaker, Word


@dataclass(frozen=True, slots=True)
class Media:
    """The sound file that a sheet is on.

    Attributes
    ----------
    name : str
        Of the file, such as `segment-01.wav`.
    path : Path or None
        Where it lies; None where it is not linked.
    rate : int
        Frames a second, as the file states it.
    frames : int
        Its length.
    """

    name: str
    path: Path | None
    rate: int
    frames: int


@dataclass(frozen=True, slots=True)
class Utterance:
    """A unit with what was said in it.

    Attributes
    ----------
    id : str or None
        Of the unit; None where the file does not say it.
    t0_ns, t1_ns : int
        Time of the file.
    speaker : str
        See `labapp.annotations.model.Speaker`.
    text : str
        Empty where nobody wrote it.
    words : tuple of Word
        In the time of the file, where they are known.
    """

    id: str | None
    t0_ns: int
    t1_ns: int
    speaker: Speaker = "participant"
    text: str = ""
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Annotation:
    """A code that was given.

    Attributes
    ----------
    id : str or None
        Of the mark; None where the file does not say it.
    tier, code : str
        As the file names them: ids of the codebook on the way out.
    t0_ns, t1_ns : int
        Time of the file; equal for a point.
    unit : str or None
        The id of the unit that it is on; None for a span of its own, and where the file does not
        say it.
    text : str
        What was said there, for formats that show it.
    value : int or None
        On a tier with values.
    memo : str
        A remark.
    """

    id: str | None
    tier: str
    code: str
    t0_ns: int
    t1_ns: int
    unit: str | None = None
    text: str = ""
    value: int | None = None
    memo: str = ""


@dataclass(frozen=True, slots=True)
class Stamp:
    """By which a file that comes back is known.

    Attributes
    ----------
    session : str
        The name of its folder.
    rater : str
        Whose marks went out.
    marks, units : tuple of str
        Ids of what went out: what is missing when it comes back was taken away there.
    """

    session: str
    rater: str
    marks: tuple[str, ...] = ()
    units: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """A rater's coding of a session, in the time of one file.

    Attributes
    ----------
    session : str
        The name of its folder.
    participant : str
        The participant's code.
    rater : str
        Whose marks these are.
    facts : mapping of str to str
        Of the participant: the condition and such; empty where the rater is blind.
    utterances : tuple of Utterance
        In order of time.
    annotations : tuple of Annotation
        In order of time.
    codebook : Codebook
        By which they were given.
    media : Media or None
        The sound; None where times are session times.
    length_ns : int
        From the file's beginning to its end.
    stamp : Stamp
        By which it is known when it comes back.
    begun_utc : str
        When the sound, or the session, began, in ISO 8601.
    lost : tuple of str
        What of the session's coding is not in this sheet, in words.
    """

    session: str
    participant: str
    rater: str
    utterances: tuple[Utterance, ...]
    annotations: tuple[Annotation, ...]
    codebook: Codebook
    media: Media | None
    length_ns: int
    stamp: Stamp
    begun_utc: str
    facts: dict[str, str] = field(default_factory=dict)
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a file of another tool holds, in its own time.

    Attributes
    ----------
    utterances : tuple of Utterance
        In order of time.
    annotations : tuple of Annotation
        In order of time.
    media : str
        The name of the sound file that it says it is on; empty where it names none.
    stamp : Stamp or None
        Where labapp wrote it.
    lost : tuple of str
        What could not be brought over, each in words.
    """

    utterances: tuple[Utterance, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    media: str = ""
    stamp: Stamp | None = None
    lost: tuple[str, ...] = ()


Write = Callable[[Sequence[Sheet], Path], tuple[str, ...]]
"""Writes sheets to a new file; returns what the format could not carry of them, in words."""
Read = Callable[[bytes, str], tuple[Arrival, ...]]
"""Reads a file's content; the text is its name, for messages. An arrival for each sound file or
session in it. Raises ExchangeError."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format that codings go out in.

    Attributes
    ----------
    name : str
        As `--to` takes it.
    suffix : str
        With its dot.
    title : str
        Which tools read it.
    write : callable
        See `Write`.
    read : callable or None
        See `Read`; None where files of it are not brought in.
    many : bool
        Whether one file takes the sheets of several sound files.
    precision_ns : int
        Times are rounded to this.
    """

    name: str
    suffix: str
    title: str
    write: Write
    read: Read | None
    many: bool
    precision_ns: int
