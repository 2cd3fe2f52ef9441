"""Plain tables: CSV of codes and words in session time, Audacity's labels, a codebook as CSV.

In the CSV a row without a code is a unit with its words, on its speaker's tier; a row without an
end is a point. The code of a row with a value reads `rating = 4`.

BORIS's projects: an observation a sound file, in which a stretch is two events.

Codes are behaviours, tiers their categories, values modifiers, the participant the subject. Codes
may overlap. A code that overlaps itself goes on with a further subject, `P01 #2`: BORIS pairs the
events of a subject and a behaviour as they come. Without sound an observation is a live one.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from labapp.base.messages import Message
from labapp.base.reading import tables
from labapp.coding.annotations.codebook import Code, Codebook
from labapp.coding.exchange import files, model
from labapp.coding.exchange.files import MS, ms, write_new
from labapp.coding.exchange.model import Annotation, Arrival, Sheet, Utterance, lanes_of, losses
from labapp.coding.exchange.refi import line

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
    for number, row in rows:
        _take(row, Message("place_line", line=number), utterances, annotations, lost)
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
    """Write a codebook as CSV, one row per code; returns what has no place, in words. Raises
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
    tables.write_csv(out, columns, rows, "\r\n")
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


FORMAT = "7.0"
"""Of projects, as BORIS 8 and 9 write it."""
STATE, POINT = "State event", "Point event"


def write(sheets: Sequence[Sheet], path: Path) -> tuple[str, ...]:
    """Write sheets as a project; see `labapp.coding.exchange.model.Write`."""
    given = [annotation for sheet in sheets for annotation in sheet.annotations]
    behaviours = _behaviours(sheets[0], given)
    kinds = {str(row["code"]): str(row["type"]) for row in behaviours}
    observations: dict[str, Any] = {}
    subjects: dict[str, None] = {line(sheets[0].participant): None}
    cut = 0
    for sheet in sheets:
        events, own, ends = _events(sheet, kinds)
        cut += ends
        subjects |= dict.fromkeys(own)
        stem = PurePosixPath(sheet.stamp.sound).stem
        name = " ".join(filter(None, (sheet.session, stem, sheet.rater)))
        observations[line(name)] = _observation(sheet, events, path.parent)
    project = {
        "time_format": "hh:mm:ss",
        "project_date": sheets[0].begun_utc[:19],
        "project_name": line(sheets[0].session),
        "project_description": "",
        "project_format_version": FORMAT,
        "subjects_conf": {
            str(number): {"key": "", "name": name, "description": ""}
            for number, name in enumerate(subjects)
        },
        "behaviors_conf": {str(number): row for number, row in enumerate(behaviours)},
        "observations": observations,
        "behavioral_categories": list(dict.fromkeys(str(b["category"]) for b in behaviours)),
        "independent_variables": {
            str(number): {
                "label": line(name), "description": "", "type": "text", "default value": "",
                "possible values": "",
            }
            for number, name in enumerate(sheets[0].facts)
        },
        "coding_map": {},
        "behaviors_coding_map": [],
        "converters": {},
    }  # fmt: skip
    write_new(path, json.dumps(project, indent=1, ensure_ascii=True).encode())
    units = sum(len(sheet.utterances) for sheet in sheets)
    return losses({"lost_all_units": units, "lost_moment_ends": cut})


def _behaviours(sheet: Sheet, given: Iterable[Annotation]) -> list[dict[str, Any]]:
    """Every code that can be given, and those that were: retired and unknown ones, too."""
    book = sheet.codebook
    used: dict[str, tuple[Annotation, dict[int, None]]] = {}
    for annotation in given:
        values = used.setdefault(annotation.code, (annotation, {}))[1]
        if annotation.value is not None:
            values[annotation.value] = None
    codes = [code for code in book.codes if not code.retired or code.id in used]
    known = {code.id for code in codes}
    for name, (annotation, _) in used.items():
        if name not in known:
            point = annotation.t0_ns == annotation.t1_ns
            codes.append(Code(name, annotation.tier, name, kind="point" if point else "span"))
    keys: set[str] = set()
    modifier = {"name": "value", "description": "", "type": 0, "ask at stop": False}
    rows = []
    for code in codes:
        tier = book.tier(code.tier)
        values = used[code.id][1] if code.id in used else {}
        choice = [str(value) for value in sorted({*(tier.values if tier else ()), *values})]
        alone = tier is not None and tier.exclusive
        others = [c.id for c in codes if alone and c.tier == code.tier and c.id != code.id]
        free = code.key and code.key not in keys
        keys.add(code.key)
        rows.append(
            {
                "type": POINT if code.kind == "point" else STATE,
                "key": code.key if free else "",
                "code": line(code.id),
                "description": line(code.name),
                "color": code.colour,
                "category": line(tier.title if tier and tier.title else code.tier),
                "modifiers": {"0": {**modifier, "values": choice}} if choice else "",
                "excluded": ",".join(others),
                "coding map": "",
            }
        )
    return rows


def _events(sheet: Sheet, kinds: dict[str, str]) -> tuple[list[list[Any]], list[str], int]:
    """The events in order of time, who they are of, and how many ends have no place."""
    rows: list[list[Any]] = []
    subjects: dict[str, None] = {}
    ends = 0
    same: dict[tuple[str, int | None], list[Annotation]] = {}
    for annotation in sheet.annotations:
        same.setdefault((annotation.code, annotation.value), []).append(annotation)
    for (code, value), given in same.items():
        modifier = "" if value is None else str(value)
        for number, lane in enumerate(lanes_of(given, MS), start=1):
            name = line(sheet.participant) + (f" #{number}" if number > 1 else "")
            subjects[name] = None
            for annotation in lane:
                begin, end = ms(annotation.t0_ns), ms(annotation.t1_ns)
                about = [name, line(code), modifier]
                rows.append([begin / 1000, *about, annotation.memo])
                if kinds[line(code)] == POINT:
                    ends += end > begin
                else:
                    rows.append([end / 1000, *about, ""])
    rows.sort(key=lambda row: float(row[0]))
    return rows, list(subjects), ends


def _observation(sheet: Sheet, events: list[list[Any]], folder: Path) -> dict[str, Any]:
    """A sound file with its events. folder: where the project lies."""
    media = sheet.media
    own: dict[str, Any] = {
        "file": {str(player): [] for player in range(1, 9)},
        "type": "LIVE",
        "date": sheet.begun_utc[:19],
        "description": f"coded by {line(sheet.rater)}",
        "time offset": 0.0,
        "events": events,
        "observation time interval": [0, 0],
        "independent_variables": {line(name): line(v) for name, v in sheet.facts.items()},
        "visualize_spectrogram": False,
        "visualize_waveform": False,
        "media_creation_date_as_offset": False,
        "media_scan_sampling_duration": 0,
        "image_display_duration": 1,
        "close_behaviors_between_videos": False,
    }
    if media is None or media.path is None:
        own |= {"file": [], "scan_sampling_time": 0, "start_from_current_time": False}
        return own | {"start_from_current_epoch_time": False}
    # From the project where the sound is beside or below it, else in full.
    place = media.path.absolute()
    way = PurePosixPath(os.path.relpath(place, folder.absolute()).replace(os.sep, "/"))
    name = place.as_posix() if ".." in way.parts else str(way)
    own["file"]["1"] = [name]
    own["media_info"] = {
        "length": {name: media.frames / media.rate},
        "fps": {name: 0.0},
        "hasVideo": {name: False},
        "hasAudio": {name: True},
        "offset": {"1": 0.0},
    }
    return own | {"type": "MEDIA"}
