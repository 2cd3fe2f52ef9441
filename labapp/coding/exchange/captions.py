"""Captions: WebVTT, SubRip (SRT), and Whisper's tables and JSON. A cue is a unit with its words;
codes have no place there.

Who speaks is read as other programs write it: `<v Name>` (Teams), `Name:` (Zoom), `[SPEAKER_00]:`
(WhisperX). Names that are none of our speakers are the voices of
`labapp.coding.exchange.model.Utterance`.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labapp.base.clock import NS
from labapp.base.messages import Message
from labapp.base.reading.values import Budget, TooMuch, json_value
from labapp.coding.exchange import files, model
from labapp.coding.exchange.files import MS, ms, plain, unreadable
from labapp.coding.exchange.model import Arrival, Sheet, Stamp, Utterance, losses, sort_by_time

_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,9}))?"
_TIMES = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?")
_NO_TIMES = re.compile(r"\s*-?\d.*-->.*")
# None of these can begin again within what it has passed over: a cue of a megabyte takes no longer
# than a thousand of a kilobyte.
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s([^<>]*)>")
_TAG = re.compile(r"</?[a-zA-Z0-9.:_-]+(?:\s[^<>]*)?>")
_LOOK = re.compile(r"<(?P<end>/)?(?P<name>b|i|u|font)(?:\s[^<>]*)?>", re.IGNORECASE)
"""What SubRip has of tags; anything else in angle brackets was said."""
_PLACED = re.compile(r"\{\\[^{}]*\}")
"""Where and how a cue is shown, as SubStation has it."""
_COMMENT = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|\Z)")
LONGEST_S = 1e6
"""Seconds of a recording."""
_NOTE = "NOTE labapp "
"""Of WebVTT: what went out."""
_SPOKEN = re.compile(r"\[(\w+)\] ?")
_NAMED = re.compile(
    r"(?:>>|-)? ?(?:\[(SPEAKER_\d+|[^\[\]\n]{1,60}(?=\]:))\]:?"
    r"|([^\W\d_][^\n:<>\[\]?!,;]{0,59}):) (?=\S)"
)
"""A name before words; what is in brackets can be nothing else."""


def write(text: Callable[[Sheet], str], sheets: Sequence[Sheet], path: Path) -> tuple[str, ...]:
    """Write a sheet as captions; see `labapp.coding.exchange.model.Write`. text: `vtt` or `srt`."""
    (sheet,) = sheets
    files.write_new(path, text(sheet).encode())
    return losses(
        {
            "lost_marks": len(sheet.annotations),
            "lost_wordless": len(sheet.utterances) - len(list(_select_spoken(sheet))),
            "lost_word_times": sheet.timed,
        }
    )


def vtt(sheet: Sheet) -> str:
    """A sheet as the text of a WebVTT file."""
    spoken = list(_select_spoken(sheet))
    cues = [
        f"{u.id or number}\n{_clock(u.t0_ns, '.')} --> {_clock(u.t1_ns, '.')}\n"
        f"<v {u.speaker}>{html.escape(_lines(u.text), quote=False)}\n"
        for number, u in enumerate(spoken, start=1)
    ]
    note = f"{_NOTE}{sheet.stamp.of(spoken).to_json()}\n"
    return "\n".join(["WEBVTT\n", note, *cues])


def srt(sheet: Sheet) -> str:
    """A sheet as the text of a SubRip file; who speaks stands before the words if it is not the
    participant."""
    cues = []
    for number, u in enumerate(_select_spoken(sheet), start=1):
        text = _lines(u.text)
        names = _SPOKEN.match(text) or any(map(_NAMED.match, text.split("\n")))
        known = u.speaker == "participant" and not names
        who = "" if known else f"[{u.speaker}] "
        cues.append(f"{number}\n{_clock(u.t0_ns, ',')} --> {_clock(u.t1_ns, ',')}\n{who}{text}\n")
    return "\n".join(cues)


def _select_spoken(sheet: Sheet) -> Iterator[Utterance]:
    return (utterance for utterance in sheet.utterances if _lines(utterance.text))


def _lines(text: str) -> str:
    """A text without empty lines, which would end its cue, and without an arrow, which would be
    taken for times."""
    lines = (line.strip() for line in re.split(r"[\n\u2028\u2029\x85]", plain(text)))
    return "\n".join(line for line in lines if line).replace("-->", "→")


def _clock(t_ns: int, point: str) -> str:
    seconds, rest = divmod(ms(t_ns), 1000)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{point}{rest:03d}"


@dataclass
class _Cue:
    """A cue as it is in the file.

    Attributes
    ----------
    times : its beginning and end in nanoseconds; None if they cannot be read.
    name : the line before its times.
    voice : who speaks, if the format has a place for it.
    """

    line: int
    times: tuple[int, int] | None
    name: str = ""
    rows: list[str] = field(default_factory=list)
    voice: str = ""


def read(content: bytes, name: str) -> tuple[Arrival, ...]:
    """Read captions of either format; see `labapp.coding.exchange.model.Read`."""
    lines = re.split(r"\r\n|\r|\n", files.decode_text(content, name))
    marked = lines[0].startswith("WEBVTT")
    notes = (line.removeprefix(_NOTE) for line in lines if marked and line.startswith(_NOTE))
    stamp = next(filter(None, map(Stamp.from_json, notes)), None)
    cues = _cues(lines, marked=marked)
    if not cues and not marked:
        raise unreadable(name, "it holds no captions")
    if cues and all(cue.times is None for cue in cues):
        line = cues[0].line
        raise unreadable(name, f"line {line}, {lines[line - 1][:60]!r}, has no times")
    return (_arrival(cues, name, stamp, marked=marked),)


def read_table(content: bytes, name: str) -> tuple[Arrival, ...]:
    """Read Whisper's table (.tsv), whose times are milliseconds; see
    `labapp.coding.exchange.model.Read`."""
    rows, _ = files.table_rows(content, name, ("start", "end", "text"), quotes=False)
    cues = []
    for line, row in rows:
        start, end = row["start"].strip(), row["end"].strip()
        known = re.fullmatch(r"\d{1,10} \d{1,10}", f"{start} {end}")
        times = (int(start) * MS, int(end) * MS) if known else None
        cues.append(_Cue(line, times, rows=[row["text"]]))
    return (_arrival(cues, name),)


def read_json(content: bytes, name: str) -> tuple[Arrival, ...]:
    """Read the JSON of Whisper, WhisperX, faster-whisper or whisper.cpp; see
    `labapp.coding.exchange.model.Read`."""
    try:
        document = json_value(files.decode_text(content, name))
        if "segments" in document:
            rows = [(s["start"], s["end"], s) for s in document["segments"]]
        else:  # whisper.cpp, in milliseconds
            parts = [(s["offsets"], s) for s in document["transcription"]]
            rows = [(at["from"] / 1000, at["to"] / 1000, s) for at, s in parts]
        cues = [_segment(number, *row) for number, row in enumerate(rows, start=1)]
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise unreadable(
            name, "it has no segments with start, end and text, as Whisper writes them"
        ) from error
    return (_arrival(cues, name),)


def _segment(number: int, start: float, end: float, segment: dict[str, Any]) -> _Cue:
    if not max(abs(start), abs(end)) < LONGEST_S:
        raise ValueError(start)
    rows = str(segment["text"]).split("\n")
    times = (round(start * 1000) * MS, round(end * 1000) * MS)
    return _Cue(number, times, rows=rows, voice=str(segment.get("speaker") or ""))


def _cues(lines: Sequence[str], *, marked: bool) -> list[_Cue]:
    """The cues of a file. Words count wherever they are: behind an empty line within a cue, and
    before the number of a cue that follows without one. marked: whether it is WebVTT."""
    cues: list[_Cue] = []
    begins, comment = True, False
    before = ""  # the line above, if it can be the name of the next cue
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            begins, comment, before = True, False, ""
            continue
        comment = comment or (begins and marked and _COMMENT.match(line) is not None)
        match = _TIMES.fullmatch(line)
        if match or (not comment and _NO_TIMES.fullmatch(line)):
            if before and cues:
                cues[-1].rows.pop()
            times = (_time(match.groups()[:4]), _time(match.groups()[4:])) if match else None
            cues.append(_Cue(number, times, before.strip()))
            before, comment = "", False
        elif not comment:
            before = line if line.strip().isdecimal() or (begins and marked) else ""
            if cues:
                cues[-1].rows.append(line)
        begins = False
    return cues


def _arrival(
    cues: Sequence[_Cue], name: str, stamp: Stamp | None = None, *, marked: bool = False
) -> Arrival:
    """What cues say. marked: whether their texts are WebVTT."""
    utterances: list[Utterance] = []
    lost: list[Message] = []
    budget = Budget()
    names = _names(cues) if stamp is None else frozenset()
    for cue in cues:
        text = "\n".join(row for row in cue.rows if row.strip())
        place = Message("place_line", line=cue.line)
        try:
            # Tags, and what looks like the name of a letter.
            budget.compare(10 * (text.count("&") + text.count("<")))
            said = [
                (voice, words)
                for voice, words in _split_voices(text, names, marked=marked)
                if words
            ]
            budget.entry(*(words for _, words in said))
        except TooMuch as error:
            raise unreadable(name, str(error), files.TOO_MUCH) from error
        begin, end = cue.times or (0, 0)
        spoken = " ".join(words for _, words in said).strip()
        if cue.times is None:
            why = Message("cue_no_times", text=repr(spoken[:40]))
            lost.append(Message("left_what", what=place, why=why))
        elif end <= begin:
            why = Message("cue_no_length", text=repr(spoken[:40]))
            lost.append(Message("left_what", what=place, why=why))
        elif not spoken:
            lost.append(Message("left_what", what=place, why=Message("cue_no_words")))
        else:
            own_id = cue.name if stamp is not None and cue.name else None
            for voice, words in said:
                voice = unicodedata.normalize("NFC", voice or cue.voice)
                speaker = model.speaker_named(voice)
                own = speaker or ("other" if voice else "participant")
                utterances.append(
                    Utterance(
                        own_id, begin, end, own, words, place=place,
                        voice=None if speaker else voice,
                    )
                )  # fmt: skip
    return Arrival(sort_by_time(utterances), stamp=stamp, lost=tuple(lost))


def _time(parts: Sequence[str | None]) -> int:
    hours, minutes, seconds, rest = (part or "0" for part in parts)
    whole = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    return whole * NS + int(rest.ljust(9, "0"))


def _names(cues: Sequence[_Cue]) -> frozenset[str]:
    """What stands before a colon and is a name: it is there in several cues, or most have one."""
    count = Counter(
        name for cue in cues for row in cue.rows if (name := _split_name(_PLACED.sub("", row))[0])
    )
    most = 2 * count.total() > len(cues)
    return frozenset(name for name, times in count.items() if times > 1 or most)


def _split_name(row: str) -> tuple[str, str]:
    """The name before words, and the words; no name where there is none."""
    match = _NAMED.match(row)
    if match is None:
        return "", row
    return " ".join((match[1] or match[2]).split()), row[match.end() :]


def _split_voices(text: str, names: Container[str], *, marked: bool) -> Iterator[tuple[str, str]]:
    """What each voice says in a cue, without any marking; a voice is empty if nobody is named.
    names: see `_names`."""
    if (match := _SPOKEN.match(text)) and model.speaker_named(match[1]):
        yield match[1], _plain(text[match.end() :], marked=marked)
        return
    parts = ["", *(_VOICE.split(text) if marked else [text])]
    for voice, part in zip(parts[::2], parts[1::2], strict=True):
        if voice:
            yield " ".join(html.unescape(voice).split()), _plain(part, marked=marked)
            continue
        who, rows = "", list[str]()
        for row in _plain(part, marked=marked).split("\n"):
            name, words = _split_name(row)
            if name and (name in names or row.startswith("[") or model.speaker_named(name)):
                yield who, "\n".join(rows)
                who, row, rows = name, words, []
            rows.append(row)
        yield who, "\n".join(rows)


def _plain(text: str, *, marked: bool) -> str:
    if marked:
        return html.unescape(_TAG.sub("", text)).strip()
    return _without_looks(_PLACED.sub("", text)).strip()


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
