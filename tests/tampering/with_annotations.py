"""Annotations and the logs beside sessions are changed, cut, emptied, deleted or put back."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from labapp.coding.annotations.ledger import Line, as_bytes, read
from labapp.coding.annotations.places import annotations_folder
from labapp.record.journal.anchor import ANCHOR
from tests.tampering.catalogue import BACKUP, INSIDER, manipulation
from tests.tampering.places import Places

Change = Callable[[Sequence[Line]], Sequence[Line]]


def _file(places: Places, name: str) -> Path:
    return annotations_folder(places.coded) / name


def _rewrite(path: Path, change: Change) -> None:
    """Change the lines of a file, with every sum and the whole chain made again."""
    path.write_bytes(as_bytes(change(read(path).lines), chained=True))


def _cut(path: Path, count: int = 1) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-count]))


def _code(lines: Sequence[Line]) -> list[Line]:
    """The first code is another one."""
    first = next(n for n, line in enumerate(lines) if line.kind == "mark.put")
    changed = lines[first]._replace(body={**lines[first].body, "code": "insight"})
    return [*lines[:first], changed, *lines[first + 1 :]]


def _log(places: Places, name: str) -> Path:
    return places.coded.parent / name


@manipulation("coded", told="transcript.jsonl: it had")
def cut_the_end_of_the_transcript(places: Places) -> Path:
    """The last line of the transcript is cut off."""
    _cut(_file(places, "transcript.jsonl"))
    return places.coded


@manipulation("coded", told="transcript.jsonl: it had")
def empty_the_transcript(places: Places) -> Path:
    """The transcript is emptied."""
    _file(places, "transcript.jsonl").write_bytes(b"")
    return places.coded


@manipulation("coded", told="transcript.jsonl: it is gone")
def delete_the_transcript(places: Places) -> Path:
    """The transcript is deleted."""
    _file(places, "transcript.jsonl").unlink()
    return places.coded


@manipulation("coded", told="transcript.jsonl: it had")
def put_back_an_old_transcript(places: Places) -> Path:
    """The transcript is put back from a backup that was made before the redaction."""
    shutil.copy(places.backup / "transcript.jsonl", _file(places, "transcript.jsonl"))
    return places.coded


@manipulation("coded", told="it does not say any more that")
def take_a_redaction_out(places: Places) -> Path:
    """The line of a redaction is left out, and all sums are made again."""
    _rewrite(
        _file(places, "transcript.jsonl"),
        lambda lines: [line for line in lines if line.kind != "redact.put"],
    )
    return places.coded


@manipulation("coded", told="it does not say any more that")
def shorten_a_redaction(places: Places) -> Path:
    """A redacted stretch is made shorter, and all sums are made again."""

    def shorter(lines: Sequence[Line]) -> list[Line]:
        return [
            line._replace(body={**line.body, "t1_ns": line.body["t0_ns"] + 1})
            if line.kind == "redact.put"
            else line
            for line in lines
        ]

    _rewrite(_file(places, "transcript.jsonl"), shorter)
    return places.coded


@manipulation("coded", told="transcript.jsonl: what it held on")
def change_a_word(places: Places) -> Path:
    """A text is another one, and all sums are made again."""

    def other(lines: Sequence[Line]) -> list[Line]:
        return [
            line._replace(body={**line.body, "text": "yes"}) if line.kind == "text.put" else line
            for line in lines
        ]

    _rewrite(_file(places, "transcript.jsonl"), other)
    return places.coded


@manipulation("coded", told="anna.jsonl: it had")
def put_back_the_folder_of_annotations(places: Places) -> Path:
    """The whole folder of a session's annotations is put back from a backup."""
    folder = annotations_folder(places.coded)
    shutil.rmtree(folder)
    shutil.copytree(places.backup, folder)
    return places.coded


@manipulation("coded", told="anna.jsonl: it is gone")
def delete_the_folder_of_annotations(places: Places) -> Path:
    """The folder of a session's annotations is deleted."""
    shutil.rmtree(annotations_folder(places.coded))
    return places.coded


@manipulation("coded", told="not recorded in anchor.jsonl")
def delete_the_anchor(places: Places) -> Path:
    """The anchor of the data folder is deleted."""
    (places.coded.parents[1] / ANCHOR).unlink()
    return places.coded


@manipulation("coded", told=f"{ANCHOR}, line 3: something above it was changed")
def change_a_line_of_the_anchor(places: Places) -> Path:
    """A line of the anchor is changed."""
    path = places.coded.parents[1] / ANCHOR
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"lines": ', b'"lines": 1')
    path.write_bytes(b"".join(lines))
    return places.coded


@manipulation("coded", told="withdrawn.jsonl: not recorded in anchor.jsonl")
def cut_the_end_of_the_anchor(places: Places) -> Path:
    """The last line of the anchor is cut off."""
    _cut(places.coded.parents[1] / ANCHOR)
    return places.coded


@manipulation("coded", told="anna.jsonl, line 3: it has the number 4")
def take_a_line_of_codes_out(places: Places) -> Path:
    """A line in the middle of a rater's file is taken out."""
    path = _file(places, "raters/anna.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    return places.coded


@manipulation("coded", told="anna.jsonl: it had")
def take_a_line_of_codes_out_and_number_again(places: Places) -> Path:
    """A line in the middle of a rater's file is taken out; numbers and sums are made again."""
    _rewrite(_file(places, "raters/anna.jsonl"), lambda lines: [*lines[:2], *lines[3:]])
    return places.coded


@manipulation("coded", told="something above it was changed")
def take_a_line_of_codes_out_and_keep_the_chain(places: Places) -> Path:
    """The same, and what each line says of those above it is left as it was."""
    path = _file(places, "raters/anna.jsonl")
    raw = [json.loads(line) for line in path.read_bytes().splitlines()]
    lines = read(path).lines
    from labapp.coding.annotations.ledger import encode

    left = [*zip(lines[:2], raw[:2], strict=True), *zip(lines[3:], raw[3:], strict=True)]
    content = [
        encode(line._replace(seq=seq), prev["prev"]) for seq, (line, prev) in enumerate(left, 1)
    ]
    path.write_bytes(b"".join(line + b"\n" for line in content))
    return places.coded


@manipulation("coded", told="the round independent was locked, and the file does not say so")
def cut_the_line_that_locks(places: Places) -> Path:
    """The line by which coding was locked is cut off."""
    _cut(_file(places, "raters/anna.jsonl"))
    return places.coded


@manipulation("coded", told="anna.jsonl: it is gone")
def delete_a_raters_file(places: Places) -> Path:
    """A rater's file is deleted."""
    _file(places, "raters/anna.jsonl").unlink()
    return places.coded


@manipulation("coded", told="anna.jsonl: it had")
def empty_a_raters_file(places: Places) -> Path:
    """A rater's file is emptied."""
    _file(places, "raters/anna.jsonl").write_bytes(b"")
    return places.coded


@manipulation("coded", told="what it held on")
def change_a_code_after_the_lock(places: Places) -> Path:
    """A code is another one after it was locked, and all sums are made again."""
    _rewrite(_file(places, "raters/anna.jsonl"), _code)
    return places.coded


@manipulation("coded", told="something above it was changed")
def change_a_code_and_its_sum(places: Places) -> Path:
    """A code is another one, and the sum of its line is made again."""
    from labapp.coding.annotations.ledger import encode

    path = _file(places, "raters/anna.jsonl")
    raw = path.read_bytes().splitlines()
    first = next(n for n, line in enumerate(raw) if b'"mark.put"' in line)
    changed = _code(read(path).lines)[first]
    raw[first] = encode(changed, json.loads(raw[first])["prev"])
    path.write_bytes(b"".join(line + b"\n" for line in raw))
    return places.coded


@manipulation("coded", told="were changed after it was locked")
def add_a_code_after_the_lock(places: Places) -> Path:
    """A code is added behind the lock, and all sums are made again."""

    def more(lines: Sequence[Line]) -> list[Line]:
        put = next(line for line in lines if line.kind == "mark.put")
        return [*lines, put._replace(utc=lines[-1].utc, body={**put.body, "id": "b" * 16})]

    _rewrite(_file(places, "raters/anna.jsonl"), more)
    return places.coded


@manipulation("coded", told="it is not chained as those above it")
def add_a_code_by_hand(places: Places) -> Path:
    """A line is added as an older labapp would have written it."""
    from labapp.coding.annotations.ledger import encode

    path = _file(places, "raters/anna.jsonl")
    last = read(path).lines[-1]
    with path.open("ab") as file:
        file.write(encode(last._replace(seq=last.seq + 1)) + b"\n")
    return places.coded


@manipulation("coded", told="its marks are those of anna")
def give_codes_to_another_rater(places: Places) -> Path:
    """A rater's file gets another's name."""
    path = _file(places, "raters/anna.jsonl")
    path.rename(path.with_name("carl.jsonl"))
    return places.coded


@manipulation("coded", told="units.jsonl: it is gone")
def delete_the_units(places: Places) -> Path:
    """The file of units is deleted."""
    _file(places, "units.jsonl").unlink()
    return places.coded


@manipulation("coded", told="units.jsonl: what it held on")
def move_a_unit(places: Places) -> Path:
    """A unit ends later, and all sums are made again."""

    def later(lines: Sequence[Line]) -> list[Line]:
        return [
            line._replace(body={**line.body, "t1_ns": line.body["t1_ns"] + 1_000})
            if line.kind == "unit.put"
            else line
            for line in lines
        ]

    _rewrite(_file(places, "units.jsonl"), later)
    return places.coded


@manipulation("coded", told="assignments.jsonl: it is gone")
def delete_who_codes_what(places: Places) -> Path:
    """The list of who codes what is deleted."""
    _log(places, "annotations/assignments.jsonl").unlink()
    return places.coded


@manipulation("coded", told="assignments.jsonl: what it held on")
def change_who_codes_what(places: Places) -> Path:
    """Another rater is assigned, and all sums are made again."""
    path = _log(places, "annotations/assignments.jsonl")

    def other(lines: Sequence[Line]) -> list[Line]:
        text = [json.loads(json.dumps(line.body).replace("anna", "carl")) for line in lines]
        return [line._replace(body=body) for line, body in zip(lines, text, strict=True)]

    _rewrite(path, other)
    return places.coded


@manipulation("coded", told="packs.jsonl: it is gone")
def delete_what_was_handed_out(places: Places) -> Path:
    """The list of what left the lab is deleted."""
    _log(places, "annotations/packs.jsonl").unlink()
    return places.coded


@manipulation("coded", told=".yaml: it is gone")
def delete_a_stored_codebook(places: Places) -> Path:
    """The version of the codebook by which codes were given is deleted."""
    (path,) = _log(places, "annotations/codebooks").glob("*.yaml")
    path.unlink()
    return places.coded


@manipulation("coded", told="its name is the SHA-256 of what it held")
def change_a_stored_codebook(places: Places) -> Path:
    """The version of the codebook by which codes were given is changed."""
    (path,) = _log(places, "annotations/codebooks").glob("*.yaml")
    path.write_bytes(path.read_bytes() + b"# more\n")
    return places.coded


@manipulation("coded", told=".yaml: it had 97 lines")
def take_the_words_out_of_a_stored_codebook(places: Places) -> Path:
    """It says that its words were withheld, as labapp writes it, and a code is another one."""
    from labapp.coding.annotations.codebook import read as read_codebook
    from labapp.coding.annotations.codebook import without_words

    (path,) = _log(places, "annotations/codebooks").glob("*.yaml")
    path.write_bytes(without_words(read_codebook(path)).replace(b"Exploring", b"Guessing"))
    return places.coded


@manipulation("coded", told="decisions.jsonl: it is gone")
def delete_the_decisions(places: Places) -> Path:
    """The list of exclusions is deleted, which undoes them."""
    _log(places, "decisions.jsonl").unlink()
    return places.coded


@manipulation("coded", told="decisions.jsonl: it had")
def cut_a_decision(places: Places) -> Path:
    """The last decision is cut off."""
    _cut(_log(places, "decisions.jsonl"))
    return places.coded


@manipulation("coded", told="decisions.jsonl, line 2: something above it was changed")
def change_a_decision(places: Places) -> Path:
    """The reason of a decision is another one."""
    path = _log(places, "decisions.jsonl")
    path.write_bytes(path.read_bytes().replace(b"asleep", b"a wake"))
    return places.coded


@manipulation("coded", told="decisions.jsonl, line 3: it is not chained")
def add_a_decision_by_hand(places: Places) -> Path:
    """A decision is added with an editor."""
    line = {"session": places.coded.name, "utc": "", "included": True, "text": "all well"}
    with _log(places, "decisions.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    return places.coded


@manipulation("coded", told="comments.jsonl: it is gone")
def delete_the_remarks(places: Places) -> Path:
    """The remarks on sessions are deleted."""
    _log(places, "comments.jsonl").unlink()
    return places.coded


@manipulation("coded", told="comments.jsonl: what it held on")
def change_a_remark(places: Places) -> Path:
    """A remark is another one."""
    path = _log(places, "comments.jsonl")
    path.write_bytes(path.read_bytes().replace(b"coughs", b"sleeps"))
    return places.coded


@manipulation("coded", told="exports.jsonl: it had")
def empty_the_log_of_exports(places: Places) -> Path:
    """The log of exports is emptied."""
    _log(places, "exports.jsonl").write_bytes(b"")
    return places.coded


@manipulation("coded", told="exports.jsonl: it is gone")
def delete_the_log_of_exports(places: Places) -> Path:
    """The log of exports is deleted."""
    _log(places, "exports.jsonl").unlink()
    return places.coded


@manipulation("coded", told="withdrawn.jsonl: it had")
def cut_a_withdrawal(places: Places) -> Path:
    """The last line of the list of withdrawals is cut off."""
    _cut(_log(places, "withdrawn.jsonl"))
    return places.coded


@manipulation("coded", unnoticed=INSIDER)
def change_a_code_and_the_anchor(places: Places) -> Path:
    """A code is another one, and all sums are made again, also those of the anchor."""
    from labapp.record.journal import anchor

    path = _file(places, "raters/anna.jsonl")
    study, data = places.coded.parent, places.coded.parents[1]
    lines = [json.loads(line) for line in (data / ANCHOR).read_bytes().splitlines()]
    _rewrite(path, _code)
    (data / ANCHOR).unlink()
    for entry in lines:
        if entry["file"] == anchor.name_in(study, path):
            content = path.read_bytes()[: entry["bytes"]]
            entry |= {"head": anchor.head_of(content)}
        entry.pop("prev")
        anchor._add(data / ANCHOR, entry)
    return places.coded


@manipulation("coded", unnoticed=BACKUP)
def put_back_the_whole_data_folder(places: Places) -> Path:
    """The whole data folder is put back from a backup that was made before the last withdrawal."""
    data = places.coded.parents[1]
    _cut(data / ANCHOR)
    _log(places, "withdrawn.jsonl").unlink()
    return places.coded
