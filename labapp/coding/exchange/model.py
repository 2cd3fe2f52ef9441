"""What goes out to another tool, what comes back, and what a format can carry.

Times here are in nanoseconds of the file that they are for: of one sound file, or of the session
where no sound is linked. `labapp.coding.exchange.gathering.FileClock` goes between these and
session time.

Tiers as other tools have them: nothing on one overlaps, and its name says what it holds.

Speech has a tier a speaker, `speech: participant`; codes of an exclusive tier share one tier,
`strategy`; codes that may stand beside each other have one each, `affect / uncertain`, and a
further one, `affect / uncertain #2`, if they overlap themselves. A code with a value reads
`rating = 4`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from heapq import heappop, heappush
from itertools import chain
from pathlib import Path
from typing import TypeVar, cast
from unicodedata import normalize

from labapp.base.messages import Message
from labapp.base.reading.values import json_value
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.model import SPEAKERS, Speaker, Word


@dataclass(frozen=True, slots=True)
class Media:
    """The sound file that a sheet is on.

    Attributes
    ----------
    path : where it lies; None if it is not linked.
    rate : frames a second, as the file states it.
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
    id : of the unit; None if the file does not say it.
    t0_ns, t1_ns : time of the file.
    text : empty if nobody wrote it.
    words : in the time of the file, if they are known.
    place : of what was read: where it is in the file, such as `line 3`.
    voice : of what was read: the speaker's name in the file where it is none of ours, empty if
        the file does not say who speaks; None if `speaker` is known.
    """

    id: str | None
    t0_ns: int
    t1_ns: int
    speaker: Speaker = "participant"
    text: str = ""
    words: tuple[Word, ...] = ()
    place: str = ""
    voice: str | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """A code that was given.

    Attributes
    ----------
    id : of the mark; None if the file does not say it.
    tier, code : as the file names them: ids of the codebook on the way out.
    t0_ns, t1_ns : time of the file; equal for a point.
    unit : the id of the unit that it is on; None for a span of its own, and where the file does not
        say it.
    text : what was said there, for formats that show it.
    place : of what was read: where it is in the file, such as `line 3`.
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
    place: str = ""


Thing = TypeVar("Thing", Utterance, Annotation)


@dataclass(frozen=True, slots=True)
class Stamp:
    """By which a file that comes back is known.

    Attributes
    ----------
    marks, units : ids of what went out: what is missing when it comes back was taken away there.
    sound : the name of the sound file whose time it has; empty for session time.
    marks_were, units_were, texts_were : digests of marks, of units and of their texts, in the order
        of their ids: what was changed since in the session is not changed back, see `digest`.
    """

    session: str
    rater: str
    marks: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    sound: str = ""
    marks_were: tuple[str, ...] = ()
    units_were: tuple[str, ...] = ()
    texts_were: tuple[str, ...] = ()

    def of(self, utterances: Sequence[Utterance], annotations: Sequence[Annotation] = ()) -> Stamp:
        """The stamp of a file that holds these, by their ids."""
        return replace(
            self,
            marks=tuple(annotation.id or "" for annotation in annotations),
            units=tuple(utterance.id or "" for utterance in utterances),
            marks_were=tuple(digest_of_mark(annotation) for annotation in annotations),
            units_were=tuple(digest_of_unit(utterance) for utterance in utterances),
            texts_were=tuple(digest(utterance.text) for utterance in utterances),
        )

    def to_json(self) -> str:
        """As a text that formats have a place for."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Stamp | None:
        """The stamp in a text; None if it is none, or was changed."""
        try:
            fields = json_value(text)
            single = [fields[name] for name in ("session", "rater", "sound")]
            many = [tuple(fields[name]) for name in _LISTS]
        except (ValueError, KeyError, TypeError):
            return None
        if not all(isinstance(value, str) for value in (*single, *chain.from_iterable(many))):
            return None
        lists = dict(zip(_LISTS, many, strict=True))
        return cls(single[0], single[1], lists.pop("marks"), lists.pop("units"), single[2], **lists)


_LISTS = ("marks", "units", "marks_were", "units_were", "texts_were")


_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def digest(*parts: object) -> str:
    """By which it is seen whether something was changed. What formats cannot carry does not count:
    which spaces there are, control characters, the arrow between the times of captions, and
    whether letters are composed."""
    plain = (_UNSEEN.sub("", str(part)).replace("-->", "→") for part in parts)
    text = normalize("NFC", "\0".join(" ".join(part.split()) for part in plain))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def digest_of_mark(annotation: Annotation) -> str:
    """Of a code as it goes out, with its times to the millisecond."""
    times = _ms(annotation.t0_ns), _ms(annotation.t1_ns)
    return digest(annotation.tier, annotation.code, *times, annotation.value, annotation.memo)


def digest_of_unit(utterance: Utterance) -> str:
    """Of a unit as it goes out, with its times to the millisecond and without its text."""
    return digest(utterance.speaker, _ms(utterance.t0_ns), _ms(utterance.t1_ns))


def _ms(t_ns: int) -> int:
    return (t_ns + 500_000) // 1_000_000


@dataclass(frozen=True, slots=True)
class Sheet:
    """A rater's coding of a session, in the time of one file.

    Attributes
    ----------
    facts : of the participant: the condition and such; empty if the rater is blind.
    media : the sound; None if times are session times.
    length_ns : from the file's beginning to its end.
    stamp : by which it is known when it comes back.
    begun_utc : when the sound, or the session, began, in ISO 8601.
    lost : what of the session's coding is not in this sheet, in words.
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

    @property
    def timed(self) -> int:
        """How many units have words with their times."""
        return sum(bool(utterance.words) for utterance in self.utterances)


@dataclass(frozen=True, slots=True)
class FileCode:
    """A code of a file.

    Attributes
    ----------
    codable : whether anything is coded with it.
    above : the names of what it is below, from the top.
    has_below : whether something is below it.
    """

    guid: str
    name: str
    description: str
    colour: str
    codable: bool
    above: tuple[str, ...]
    has_below: bool


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a file of another tool holds, in its own time.

    Attributes
    ----------
    media : the name of the sound file that it says it is on; empty if it names none.
    lost : what could not be brought over, each in words.
    length_ns : of the sound, or session, that it says it is on; None if it does not say.
    memos : whether it has a place for remarks on codes: if it has none, none was taken away.
    codes : its codebook, if it has one; of a file with several arrivals the first one has it.
    coded : tiers that hold codes and not words, as the file says.
    """

    utterances: tuple[Utterance, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    media: str = ""
    stamp: Stamp | None = None
    lost: tuple[str, ...] = ()
    length_ns: int | None = None
    memos: bool = True
    codes: tuple[FileCode, ...] = ()
    coded: frozenset[str] = frozenset()


def sort_by_time(things: Iterable[Thing]) -> tuple[Thing, ...]:
    """Units or codes in order of time."""
    return tuple(sorted(things, key=lambda thing: (thing.t0_ns, thing.t1_ns)))


def losses(counts: Mapping[str, int]) -> tuple[Message, ...]:
    """What a format has no place for, of what there is: by the codes of the messages, how many."""
    return tuple(Message(code, n=n) for code, n in counts.items() if n)


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
    name : as `--to` takes it.
    title : which tools read it.
    read : see `Read`; None if files of it are not brought in.
    many : whether one file takes the sheets of several sound files.
    precision_ns : times are rounded to this.
    links : whether a file of it says where the sound lies.
    holds_sound : whether the sound lies in it.
    read_file : callable or None
        Reads a file where it lies, for one that holds sound; None if its content is read.
    """

    name: str
    suffix: str
    title: str
    write: Write
    read: Read | None
    many: bool
    precision_ns: int
    links: bool = True
    holds_sound: bool = False
    read_file: Callable[[Path], tuple[Arrival, ...]] | None = None


SPEECH = "speech: "
Placed = TypeVar("Placed", Utterance, Annotation)
_NUMBER = re.compile(r" #\d{1,4}\Z")
_OF_WORDS = re.compile(
    r"(?:.* - )?(?:words?|phones?|syllables?|sentences?|utterances?|turns?|default|text|speech"
    r"|orthography|transcri(?:pt|ption)s?|transkript(?:ion)?|(?:ort|kan|kas|mas)(?:-mau)?|mau)"
    r"|(?:vp|p|s|sub|subject|participant|speaker|sprecher(?:in)?|person|spk)[ _-]?\d+",
    re.IGNORECASE,
)
"""What tiers of words are called by ELAN, Praat, MFA, WebMAUS and people; also by participants."""
_MANY_CODES = 40
_VALUE = re.compile(r"-?\d{1,9}")


@dataclass(frozen=True, slots=True)
class SpeechTier:
    """The utterances of a speaker, in order of time; none overlaps another."""

    name: str
    speaker: Speaker
    utterances: tuple[Utterance, ...]


@dataclass(frozen=True, slots=True)
class CodeTier:
    """Codes in order of time; none overlaps another. annotations: either all points or none."""

    name: str
    tier: str
    annotations: tuple[Annotation, ...]


def speech_tiers(sheet: Sheet, grid_ns: int = 1) -> list[SpeechTier]:
    """The tiers of a sheet's speech; those that overlap themselves have further ones. grid_ns: what
    times are rounded to, and how long a moment is."""
    result = []
    for speaker in SPEAKERS:
        own = [utterance for utterance in sheet.utterances if utterance.speaker == speaker]
        for number, lane in enumerate(lanes_of(own, grid_ns), start=1):
            name = _number_name(SPEECH + speaker, number)
            result.append(SpeechTier(name, cast(Speaker, speaker), tuple(lane)))
    return result


def code_tiers(sheet: Sheet, grid_ns: int = 1) -> list[CodeTier]:
    """The tiers of a sheet's codes, in the codebook's order; those without a code, too, so that the
    other tool has them. grid_ns: as of `speech_tiers`."""
    book = sheet.codebook
    groups: dict[tuple[str, str], list[Annotation]] = {}
    for tier in book.tiers:
        if tier.exclusive:
            groups[tier.name, ""] = []
        else:
            groups |= {(tier.name, code.id): [] for code in book.given(tier.name)}
    for annotation in sheet.annotations:
        known = book.tier(annotation.tier)
        alone = known is None or not known.exclusive
        key = (annotation.tier, annotation.code if alone else "")
        groups.setdefault(key, []).append(annotation)
    result = []
    for (tier_name, code), own in groups.items():
        name = f"{tier_name} / {code}" if code else tier_name
        points = [a for a in own if a.t0_ns == a.t1_ns]
        spans = [a for a in own if a.t0_ns != a.t1_ns]
        lanes = [*lanes_of(spans, grid_ns), *lanes_of(points, grid_ns)] or [[]]
        result += [
            CodeTier(_number_name(name, number), tier_name, tuple(lane))
            for number, lane in enumerate(lanes, start=1)
        ]
    return result


def read_tier(name: str, codebook_tiers: Sequence[str] = ()) -> tuple[str, str]:
    """The tier, and the code if it is in its name, of a tier of another tool; a tier of speech is
    given as `speech: participant`. codebook_tiers: names that are taken as they are."""
    if name in codebook_tiers:
        return name, ""
    if number := _NUMBER.search(name, max(0, len(name) - len(" #1234"))):
        name = name[: number.start()]
    # A code has no # in it: what stands before one is of the tier.
    at = name.find(" / ", name.rfind("#") + 1)
    tier, code = (name, "") if at < 0 else (name[:at], name[at + len(" / ") :])
    tier = tier.strip()
    if tier.casefold() in SPEAKERS and tier not in codebook_tiers:
        tier = SPEECH + tier.casefold()
    return tier, code.strip()


def speech_of(tier: str) -> tuple[Speaker, str | None] | None:
    """Who speaks on a tier of speech, and what the file calls them if they are none of ours; None
    for a tier of codes."""
    start, name = tier[: len(SPEECH)], tier[len(SPEECH) :].strip()
    if start.casefold() != SPEECH or not name:
        return None
    speaker = speaker_named(name)
    return (speaker, None) if speaker else ("other", name)


def speaker_named(name: str) -> Speaker | None:
    """Which of our speakers a name is, in capitals or not."""
    name = name.strip().casefold()
    return cast(Speaker, name) if name in SPEAKERS else None


def are_words(tier: str, labels: Sequence[str]) -> bool:
    """Whether a tier of another tool seems to hold words: it is called so, its labels read like
    sentences, or there are too many different ones for codes."""
    different = set(labels)
    long = sum(len(label.split()) > 2 or label[-1:] in ".?!…" for label in different)
    if _OF_WORDS.fullmatch(tier.strip()) or 2 * long > len(different):
        return True
    return len(different) > max(_MANY_CODES, len(labels) // 2)


def are_sounds(tier: str) -> bool:
    """Whether a tier of words is called like one of single sounds."""
    return re.search(r"phone|syllable|\Amau\Z", tier, re.IGNORECASE) is not None


def label_of(annotation: Annotation) -> str:
    """A code with its value as a label."""
    value = annotation.value
    return annotation.code if value is None else f"{annotation.code} = {value}"


def read_label(label: str) -> tuple[str, int | None]:
    """The code and the value in a label."""
    label = label.strip()
    code, _, value = label.rpartition("=")
    if code.strip() and _VALUE.fullmatch(value.strip()):
        return code.rstrip(), int(value)
    return label, None


def labels(codebook: Codebook, tier_name: str, given: Sequence[Annotation] = ()) -> list[str]:
    """Every label of a tier: its codes, and each of them with each value if it has values."""
    tier = codebook.tier(tier_name)
    values = tier.values if tier else ()
    result: dict[str, None] = {}
    for code in codebook.given(tier_name):
        result[code.id] = None
        result |= {f"{code.id} = {value}": None for value in values}
    return list(result | {label_of(a): None for a in given})


def _number_name(name: str, number: int) -> str:
    return name if number == 1 else f"{name} #{number}"


def lanes_of(things: Sequence[Placed], grid_ns: int) -> Iterator[list[Placed]]:
    """What does not overlap, together: in as few lists as there are at once, in order of time."""
    lanes: list[list[Placed]] = []
    taken: list[tuple[int, int]] = []  # until when, and by which lane: a heap
    free: list[int] = []
    for thing in sorted(things, key=lambda thing: (thing.t0_ns, thing.t1_ns)):
        begin, end = ((t + grid_ns // 2) // grid_ns for t in (thing.t0_ns, thing.t1_ns))
        while taken and taken[0][0] <= begin:
            heappush(free, heappop(taken)[1])
        if not free:
            heappush(free, len(lanes))
            lanes.append([])
        number = heappop(free)
        lanes[number].append(thing)
        heappush(taken, (max(end, begin + 1), number))
    return iter(lanes)
