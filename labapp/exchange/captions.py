"""Captions: WebVTT and SubRip (SRT). A cue is a unit with its words; codes have no place there."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from labapp.annotations.model import SPEAKERS, Speaker
from labapp.exchange import files
from labapp.exchange.files import MS, ms, unreadable
from labapp.exchange.model import Arrival, Sheet, Stamp, Utterance
from labapp.exchange.xml import plain
from labapp.messages import Message
from labapp.reading.values import Budget, TooMuch

_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMES = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?")
# None of these can begin again within what it has passed over: a cue of a megabyte takes no longer
# than a thousand of a kilobyte.
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s([^<>]*)>")
_TAG = re.compile(r"</?[a-zA-Z0-9.:_-]+(?:\s[^<>]*)?>")
_LOOK = re.compile(r"<(?P<end>/)?(?P<name>b|i|u|font)(?:\s[^<>]*)?>", re.IGNORECASE)
"""What SubRip has of tags; anything else in angle brackets was said."""
_COMMENTS = ("NOTE", "STYLE", "REGION")
_NOTE = "NOTE labapp "
"""Of WebVTT: what went out."""
_SPOKEN = re.compile(r"\[(\w+)\] ?")


def write_vtt(sheets: Sequence[Sheet], path: Path) -> tuple[str, ...]:
    """Write a sheet as WebVTT; see `labapp.exchange.model.Write`."""
    return _write(sheets, path, vtt)


def write_srt(sheets: Sequence[Sheet], path: Path) -> tuple[str, ...]:
    """Write a sheet as SRT; see `labapp.exchange.model.Write`."""
    return _write(sheets, path, srt)


def _write(sheets: Sequence[Sheet], path: Path, text: Callable[[Sheet], str]) -> tuple[str, ...]:
    (sheet,) = sheets
    files.write_new(path, text(sheet).encode())
    lost = []
    if sheet.annotations:
        lost.append(Message("lost_marks", n=len(sheet.annotations)))
    if empty := len(sheet.utterances) - len(list(_spoken(sheet))):
        lost.append(Message("lost_wordless", n=empty))
    if words := sum(bool(utterance.words) for utterance in sheet.utterances):
        lost.append(Message("lost_word_times", n=words))
    return tuple(lost)


def vtt(sheet: Sheet) -> str:
    """A sheet as the text of a WebVTT file."""
    spoken = list(_spoken(sheet))
    cues = [
        f"{u.id or number}\n{_clock(u.t0_ns, '.')} --> {_clock(u.t1_ns, '.')}\n"
        f"<v {u.speaker}>{html.escape(_lines(u.text), quote=False)}\n"
        for number, u in enumerate(spoken, start=1)
    ]
    note = f"{_NOTE}{sheet.stamp.of(spoken).to_json()}\n"
    return "\n".join(["WEBVTT\n", note, *cues])


def srt(sheet: Sheet) -> str:
    """A sheet as the text of a SubRip file; who speaks stands before the words where it is not the
    participant."""
    cues = []
    for number, u in enumerate(_spoken(sheet), start=1):
        text = _lines(u.text)
        known = u.speaker == "participant" and not _SPOKEN.match(text)
        who = "" if known else f"[{u.speaker}] "
        cues.append(f"{number}\n{_clock(u.t0_ns, ',')} --> {_clock(u.t1_ns, ',')}\n{who}{text}\n")
    return "\n".join(cues)


def _spoken(sheet: Sheet) -> Iterator[Utterance]:
    return (utterance for utterance in sheet.utterances if _lines(utterance.text))


def _lines(text: str) -> str:
    """A text without empty lines, which would end its cue, and without an arrow, which would be
    taken for times."""
    lines = (line.strip() for line in re.split(r"[\n\u2028\u2029\x85]", plain(text)))
    return "\n".join(line for line in lines if line).replace("-->", "→")


def _clock(t_ns: int, point: str) -> str:
    seconds, rest = divmod(ms(t_ns), 1000)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{point}{rest:03d}"


def read(content: bytes, name: str) -> tuple[Arrival, ...]:
    """Read captions of either format; see `labapp.exchange.model.Read`."""
    text = files.decoded(content, name)
    lines = re.split(r"\r\n|\r|\n", text)
    marked = lines[0].startswith("WEBVTT")
    notes = (line.removeprefix(_NOTE) for line in lines if marked and line.startswith(_NOTE))
    stamp = next((found for note in notes if (found := Stamp.from_json(note))), None)
    utterances: list[Utterance] = []
    lost: list[Message] = []
    budget = Budget()
    at = block = 0
    while at < len(lines):
        if at and not lines[at - 1].strip():
            block = at
        match = _TIMES.fullmatch(lines[at])
        if match is None:
            if "-->" in lines[at] and not lines[block].startswith(_COMMENTS):
                raise unreadable(name, f"line {at + 1}, {lines[at][:60]!r}, has no times")
            at += 1
            continue
        first, words = at, []
        name_of = lines[at - 1].strip() if stamp is not None and at else ""
        at += 1
        while at < len(lines) and lines[at].strip():
            words.append(lines[at])
            at += 1
        begin, end = (_time(match.groups()[i : i + 4]) for i in (0, 4))
        try:
            # Tags, and what looks like the name of a letter.
            budget.compare(10 * sum(line.count("&") + line.count("<") for line in words))
            speaker, spoken = _who("\n".join(words), marked)
            budget.entry(spoken)
        except TooMuch as error:
            raise unreadable(name, str(error), files.TOO_MUCH) from error
        place = Message("place_line", line=first + 1)
        if end <= begin:
            why = Message("cue_no_length", text=repr(spoken[:40]))
            lost.append(Message("left_what", what=place, why=why))
        elif not spoken:
            lost.append(Message("left_what", what=place, why=Message("cue_no_words")))
        else:
            utterances.append(Utterance(name_of or None, begin, end, speaker, spoken, place=place))
    if not marked and not utterances and not lost:
        raise unreadable(name, "it holds no captions")
    utterances.sort(key=lambda u: (u.t0_ns, u.t1_ns))
    return (Arrival(tuple(utterances), stamp=stamp, lost=tuple(lost)),)


def _time(parts: Sequence[str | None]) -> int:
    hours, minutes, seconds, rest = (part or "0" for part in parts)
    whole = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    return (whole * 1000 + int(rest.ljust(3, "0"))) * MS


def _who(text: str, marked: bool) -> tuple[Speaker, str]:
    """Who speaks in a cue, and the words without any marking."""
    speaker: Speaker = "participant"
    if (match := _VOICE.search(text)) and marked:
        speaker = _speaker(match.group(1)) or speaker
    elif (match := _SPOKEN.match(text)) and (named := _speaker(match.group(1))):
        speaker, text = named, text[match.end() :]
    if marked:
        return speaker, html.unescape(_TAG.sub("", text)).strip()
    return speaker, _without_looks(text).strip()


def _without_looks(text: str) -> str:
    """A text without SubRip's tags, each with its end; one that has none was said."""
    left_out: list[tuple[int, int]] = []
    open_: dict[str, list[tuple[int, int]]] = {}
    for tag in _LOOK.finditer(text):
        name = tag["name"].casefold()
        if not tag["end"]:
            open_.setdefault(name, []).append(tag.span())
        elif open_.get(name):
            left_out += [open_[name].pop(), tag.span()]
    parts, at = [], 0
    for begin, end in sorted(left_out):
        parts.append(text[at:begin])
        at = end
    return "".join((*parts, text[at:]))


def _speaker(name: str) -> Speaker | None:
    name = name.strip().casefold()
    for speaker in SPEAKERS:
        if name == speaker:
            return speaker  # type: ignore[return-value]
    return None
