"""Tiers as other tools have them: nothing on one overlaps, and its name says what it holds.

Speech has a tier a speaker, `speech: participant`; codes of an exclusive tier share one tier,
`strategy`; codes that may stand beside each other have one each, `affect / uncertain`, and a
further one, `affect / uncertain #2`, where they overlap themselves. A code with a value reads
`rating = 4`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TypeVar, cast

from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.model import SPEAKERS, Speaker
from labapp.coding.exchange.model import Annotation, Sheet, Utterance

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
            name = _numbered(SPEECH + speaker, number)
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
            CodeTier(_numbered(name, number), tier_name, tuple(lane))
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
    """Every label of a tier: its codes, and each of them with each value where it has values."""
    tier = codebook.tier(tier_name)
    values = tier.values if tier else ()
    result: dict[str, None] = {}
    for code in codebook.given(tier_name):
        result[code.id] = None
        result |= {f"{code.id} = {value}": None for value in values}
    return list(result | {label_of(a): None for a in given})


def _numbered(name: str, number: int) -> str:
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
