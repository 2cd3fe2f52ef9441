"""Plain tables: CSV of codes and words in session time, Audacity's labels, a codebook as CSV.

In the CSV a row without a code is a unit with its words, on its speaker's tier; a row without an
end is a point. The code of a row with a value reads `rating = 4`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path

from labapp.base import text_tables
from labapp.base.messages import Message
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.exchange import files, model
from labapp.coding.exchange.model import Annotation, Arrival, Sheet, Utterance, losses

COLUMNS = ("tier", "code", "onset_s", "offset_s", "text", "memo")
_SECONDS = re.compile(r"(\d{1,7})(?:[.,](\d{1,9}))?")
_NS = 1_000_000_000
LONGEST = 1_000_000
"""Characters of a cell."""


def write_csv(sheets: Sequence[Sheet], path: Path) -> tuple[str, ...]:
    """Write a sheet as CSV; see `labapp.coding.exchange.model.Write`."""
    (sheet,) = sheets
    rows: list[tuple[int, int, tuple[str, ...]]] = []
    for u in sheet.utterances:
        times = (_seconds(u.t0_ns), _seconds(u.t1_ns))
        rows.append((u.t0_ns, 0, (model.SPEECH + u.speaker, "", *times, u.text, "")))
    for a in sheet.annotations:
        times = (_seconds(a.t0_ns), "" if a.t0_ns == a.t1_ns else _seconds(a.t1_ns))
        rows.append((a.t0_ns, 1, (a.tier, model.label_of(a), *times, a.text, a.memo)))
    rows.sort(key=lambda row: row[:2])
    files.write_new(path, _csv(COLUMNS, [row for _, _, row in rows]))
    return losses({"lost_word_times": sheet.timed})


def read_csv(content: bytes, name: str) -> tuple[Arrival, ...]:
    """Read a CSV of codes, see `labapp.base.reading.tables` and
    `labapp.coding.exchange.model.Read`."""
    rows, extra = files.table_rows(content, name, ("tier", "code", "onset_s"), COLUMNS)
    utterances: list[Utterance] = []
    annotations: list[Annotation] = []
    lost: list[Message] = []
    for line, row in rows:
        _take(row, Message("place_line", line=line), utterances, annotations, lost)
    if extra:
        lost.append(Message("columns_other", columns=", ".join(extra)))
    memos = any("memo" in row for _, row in rows)
    return (Arrival(tuple(utterances), tuple(annotations), lost=tuple(lost), memos=memos),)


def _take(
    row: dict[str, str],
    place: Message,
    utterances: list[Utterance],
    annotations: list[Annotation],
    lost: list[Message],
) -> None:
    def lose(code: str, **values: str) -> None:
        lost.append(Message("left_what", what=place, why=Message(code, **values)))

    tier, label = row.get("tier", "").strip(), row.get("code", "").strip()
    begin, end = _time(row.get("onset_s", "")), _time(row.get("offset_s", ""))
    if begin is None:
        lose("row_no_time", text=repr(row.get("onset_s")))
        return
    if row.get("offset_s", "").strip() and (end is None or end < begin):
        lose("row_no_end", text=repr(row.get("offset_s")), begin=str(row.get("onset_s")))
        return
    named, _ = model.read_tier(tier)
    speaks = model.speech_of(named)
    text, memo = row.get("text", ""), row.get("memo", "")
    if speaks is not None and not label:
        speaker, voice = speaks
        if end is None or end == begin:
            lose("row_speech_end")
        else:
            utterances.append(Utterance(None, begin, end, speaker, text, place=place, voice=voice))
        return
    if not tier or not label:
        lose("row_no_code" if tier else "row_no_tier")
        return
    code, value = model.read_label(label)
    stop = begin if end is None else end
    annotations.append(Annotation(None, tier, code, begin, stop, None, text, value, memo, place))


def write_audacity(sheets: Sequence[Sheet], path: Path) -> tuple[str, ...]:
    """Write a sheet as labels for Audacity; see `labapp.coding.exchange.model.Write`."""
    (sheet,) = sheets
    rows = [(u.t0_ns, u.t1_ns, f"{u.speaker}: {u.text}") for u in sheet.utterances]
    rows += [(a.t0_ns, a.t1_ns, f"{a.tier}: {model.label_of(a)}") for a in sheet.annotations]
    lines = [
        f"{_seconds(begin)}\t{_seconds(end)}\t{' '.join(label.split())}\n"
        for begin, end, label in sorted(rows)
    ]
    files.write_new(path, "".join(lines).encode())
    return losses({"lost_memos": sum(bool(a.memo) for a in sheet.annotations)})


def codebook_csv(codebook: Codebook, path: Path) -> tuple[str, ...]:
    """Write a codebook as CSV, a row a code; returns what has no place, in words. Raises
    ExchangeError."""
    columns = ("tier", "code", "name", "key", "kind", "colour", "parent", "when", "not")
    rows = [
        (c.tier, c.id, c.name, c.key, c.kind, c.colour, c.parent or "", c.when, c.not_)
        for c in codebook.codes
        if not c.retired
    ]
    files.write_new(path, _csv(columns, rows))
    return losses({"lost_retired": sum(bool(code.retired) for code in codebook.codes)})


def _csv(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
    out = io.StringIO(newline="")
    text_tables.write_csv(out, columns, rows, "\r\n")
    return out.getvalue().replace("\0", "").encode()


def _seconds(t_ns: int) -> str:
    """To the microsecond."""
    whole, rest = divmod((t_ns + 500) // 1000, 1_000_000)
    return f"{whole}.{rest:06d}"


def _time(text: str) -> int | None:
    match = _SECONDS.fullmatch(text.strip())
    if match is None:
        return None
    whole, rest = match.groups()
    return int(whole) * _NS + int((rest or "0").ljust(9, "0"))
