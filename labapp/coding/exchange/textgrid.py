"""Praat's TextGrids: written in the long format, read in the long, short and chronological one.

Tiers are those of `labapp.coding.exchange.model`; points are on tiers of points. Intervals fill
their tier, empty ones between. Remarks have no place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from labapp.base.messages import Message
from labapp.base.reading.values import Budget, TooMuch
from labapp.coding.exchange import files, model
from labapp.coding.exchange.files import unreadable
from labapp.coding.exchange.model import Annotation, Arrival, Sheet, Utterance, losses, sort_by_time

_TOKEN = re.compile(
    r'"[^"]*+(?:""[^"]*+)*+(?P<closed>"?)|(?P<skip>(?<!\S)![^\r\n]*+|'
    r"\b(?:item|intervals|points)\s*+\[\d*+\])|"
    r"<exists>|<absent>|(?<![^\s=\[])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?:%|[xX/][^\s!]+)?"
)
"""Texts, also one that never ends; comments, and the numbers of items, which the short format
lacks; flags; and numbers, as Praat reads them; those such as 1/2 and 0x1 are refused."""
MOST = 2_000_000
"""Numbers and texts in a file."""


def write(sheets: Sequence[Sheet], path: Path) -> tuple[str, ...]:
    """Write a sheet as a TextGrid; see `labapp.coding.exchange.model.Write`."""
    (sheet,) = sheets
    files.write_new(path, content_of(sheet).encode())
    return losses(
        {
            "lost_memos": sum(bool(annotation.memo) for annotation in sheet.annotations),
            "lost_word_times": sheet.timed,
            "lost_wordless_empty": sum(not utterance.text for utterance in sheet.utterances),
        }
    )


def content_of(sheet: Sheet) -> str:
    """A sheet as the text of a TextGrid."""
    things: list[Utterance | Annotation] = [*sheet.utterances, *sheet.annotations]
    end = max(sheet.length_ns, *(thing.t1_ns for thing in things), 0)
    rows: list[tuple[str, bool, list[tuple[int, int, str]]]] = []
    for speech in model.speech_tiers(sheet):
        own = [(u.t0_ns, u.t1_ns, u.text) for u in speech.utterances]
        rows.append((speech.name, False, own))
    for codes in model.code_tiers(sheet):
        labels = [(a.t0_ns, a.t1_ns, model.label_of(a)) for a in codes.annotations]
        rows.append((codes.name, any(begin == end for begin, end, _ in labels), labels))
    lines = [
        'File type = "ooTextFile"',
        'Object class = "TextGrid"',
        "",
        "xmin = 0",
        f"xmax = {_seconds(end)}",
        "tiers? <exists>",
        f"size = {len(rows)}",
        "item []:",
    ]
    for number, (name, points, own) in enumerate(rows, start=1):
        lines += [
            f"    item [{number}]:",
            f'        class = "{"TextTier" if points else "IntervalTier"}"',
            f"        name = {_quote(name)}",
            "        xmin = 0",
            f"        xmax = {_seconds(end)}",
        ]
        lines += _points(own) if points else _intervals(own, end)
    return "\n".join(lines) + "\n"


def _points(own: Sequence[tuple[int, int, str]]) -> Iterator[str]:
    yield f"        points: size = {len(own)}"
    for number, (at, _, text) in enumerate(own, start=1):
        yield f"        points [{number}]:"
        yield f"            number = {_seconds(at)}"
        yield f"            mark = {_quote(text)}"


def _intervals(own: Sequence[tuple[int, int, str]], end: int) -> Iterator[str]:
    whole: list[tuple[int, int, str]] = []
    at = 0
    for begin, stop, text in own:
        if begin > at:
            whole.append((at, begin, ""))
        whole.append((begin, stop, text))
        at = stop
    if at < end or not whole:
        whole.append((at, max(end, at + 1), ""))
    yield f"        intervals: size = {len(whole)}"
    for number, (begin, stop, text) in enumerate(whole, start=1):
        yield f"        intervals [{number}]:"
        yield f"            xmin = {_seconds(begin)}"
        yield f"            xmax = {_seconds(stop)}"
        yield f"            text = {_quote(text)}"


def _seconds(t_ns: int) -> str:
    whole, rest = divmod(t_ns, 1_000_000_000)
    return f"{whole}.{rest:09d}".rstrip("0").rstrip(".")


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""').replace("\r\n", "\n") + '"'


def read(content: bytes, name: str) -> tuple[Arrival, ...]:
    """Read a TextGrid; see `labapp.coding.exchange.model.Read`."""
    try:
        return (_read(content, name),)
    except TooMuch as error:
        raise unreadable(name, str(error), files.TOO_MUCH) from error


def _read(content: bytes, name: str) -> Arrival:
    text = files.decode_text(content, name)
    if "TextGrid" not in text[:200]:
        raise unreadable(name, "it is no TextGrid", "Save it in Praat as a TextGrid text file.")
    tokens = _Tokens(text, name)
    chronological = tokens.text() == "Praat chronological TextGrid text file"
    if not chronological:
        tokens.text()  # TextGrid
    tokens.number()
    length_ns = tokens.time()
    if not chronological:
        tokens.flag()
    utterances: list[Utterance] = []
    annotations: list[Annotation] = []
    lost: list[Message] = []
    for tier_name, begin, end, label in (_by_time if chronological else _by_tier)(tokens):
        if not label.strip():
            continue
        tokens.budget.entry(label, tier_name)  # each that is left out names its tier
        place = Message("place_tier", tier=repr(tier_name))
        tier, code = model.read_tier(tier_name)
        speaks = model.speech_of(tier)
        if speaks is not None and end > begin:
            speaker, voice = speaks
            utterances.append(Utterance(None, begin, end, speaker, label, place=place, voice=voice))
        elif speaks is not None:
            why = Message("point_speech", text=repr(label[:60]))
            lost.append(Message("left_what", what=place, why=why))
        else:
            own, value = model.read_label(label)
            annotations.append(
                Annotation(None, tier, own or code, begin, end, value=value, place=place)
            )
    both = sort_by_time(utterances), sort_by_time(annotations)
    return Arrival(*both, lost=tuple(lost), length_ns=length_ns, memos=False)


def _tier(tokens: _Tokens) -> tuple[str, bool]:
    """The name of the tier that begins, and whether it has intervals."""
    kind, tier_name = tokens.text(), tokens.text()
    tokens.number()
    tokens.number()
    if kind not in ("IntervalTier", "TextTier"):
        raise unreadable(tokens.name, f"it has a tier of the class {kind!r}")
    return tier_name, kind == "IntervalTier"


def _entry(tokens: _Tokens, tier: tuple[str, bool]) -> tuple[str, int, int, str]:
    tier_name, long = tier
    begin = tokens.time()
    return tier_name, begin, tokens.time() if long else begin, tokens.text()


def _by_tier(tokens: _Tokens) -> Iterator[tuple[str, int, int, str]]:
    """Tier, times and text of all entries, one tier after the other."""
    for _ in range(tokens.count()):
        tier = _tier(tokens)
        for _ in range(tokens.count()):
            yield _entry(tokens, tier)


def _by_time(tokens: _Tokens) -> Iterator[tuple[str, int, int, str]]:
    """The same of a chronological file, in which each entry names its tier by number."""
    tiers_here = [_tier(tokens) for _ in range(tokens.count())]
    while tokens.more():
        number = tokens.count()
        if not 1 <= number <= len(tiers_here):
            raise unreadable(tokens.name, f"it has no tier {number}")
        yield _entry(tokens, tiers_here[number - 1])


class _Tokens:
    """Texts, numbers and flags of a file in their order; words between them say nothing: so the
    long and the short format are the same."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self._tokens = self._each(text)
        self._read = 0
        self.budget = Budget()

    def _each(self, text: str) -> Iterator[str]:
        for match in _TOKEN.finditer(text):
            if match["closed"] == "":
                raise unreadable(
                    self.name, f"the text {match.group()[:60]!r} in it is never closed"
                )
            if not match["skip"]:
                yield match.group()

    def _next(self, what: str) -> str:
        token = next(self._tokens, None)
        self._read += 1
        if token is None or self._read > MOST:
            raise unreadable(self.name, f"it ends where {what} should be")
        return token

    def text(self) -> str:
        token = self._next("a text")
        if token[0] != '"':
            raise unreadable(self.name, f"it has {token[:60]!r} where a text is expected")
        return token[1:-1].replace('""', '"')

    def flag(self) -> None:
        if self._next("<exists>") != "<exists>":
            raise unreadable(self.name, "it has no tiers")

    def number(self) -> float:
        token = self._next("a number")
        try:
            return float(token[:-1]) / 100 if token[-1] == "%" else float(token)
        except ValueError as error:
            raise unreadable(
                self.name, f"it has {token[:60]!r} where a number is expected"
            ) from error

    def time(self) -> int:
        seconds = self.number()
        if not abs(seconds) < 1e6:
            raise unreadable(self.name, f"{seconds} s is not a time in a session")
        return round(seconds * 1e9)

    def more(self) -> bool:
        """Whether anything follows."""
        token = next(self._tokens, None)
        self._tokens = chain(() if token is None else (token,), self._tokens)
        return token is not None

    def count(self) -> int:
        number = self.number()
        if not 0 <= number <= MOST or number != int(number):
            raise unreadable(self.name, f"{number} is not a count")
        return int(number)
