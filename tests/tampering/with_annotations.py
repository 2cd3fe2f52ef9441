"""Annotations and the logs beside sessions are changed, cut, emptied, deleted or put back."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path

from labapp.coding.annotations.ledger import Line, as_bytes, read
from labapp.coding.annotations.model import annotations_folder
from labapp.record.journal.anchor import ANCHOR
from tests.tampering.catalogue import BACKUP, INSIDER, manipulation
from tests.tampering.places import Places

Change = Callable[[Sequence[Line]], Sequence[Line]]
Place = Callable[[Places, str], Path]


def _file(places: Places, name: str) -> Path:
    return annotations_folder(places.coded) / name


def _rewrite(path: Path, change: Change) -> None:
    """Change the lines of a file, with every sum and the whole chain made again."""
    path.write_bytes(as_bytes(change(read(path).lines), chained=True))


def rewritten(name: str, **told: str) -> Callable[[Change], Change]:
    """Put a change of the lines of a file into the catalogue, with every sum made again."""

    def add(edit: Change) -> Change:
        @wraps(edit)
        def change(places: Places) -> None:
            _rewrite(_file(places, name), edit)

        manipulation("coded", **told)(change)
        return edit

    return add


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


for _name, _place, _path, _sentence in (
    ("delete_the_transcript", _file, "transcript.jsonl", "The transcript is deleted."),
    ("delete_a_raters_file", _file, "raters/anna.jsonl", "A rater's file is deleted."),
    ("delete_the_units", _file, "units.jsonl", "The file of units is deleted."),
    ("delete_who_codes_what", _log, "annotations/assignments.jsonl", "Who codes what is deleted."),
    (
        "delete_what_was_handed_out",
        _log,
        "annotations/packs.jsonl",
        "The log of packs is deleted.",
    ),
    ("delete_the_decisions", _log, "decisions.jsonl", "The list of exclusions is deleted."),
    ("delete_the_remarks", _log, "comments.jsonl", "The remarks on sessions are deleted."),
    ("delete_the_log_of_exports", _log, "exports.jsonl", "The log of exports is deleted."),
):

    def _delete(places: Places, place: Place = _place, path: str = _path) -> None:
        place(places, path).unlink()

    _delete.__name__, _delete.__doc__ = _name, _sentence
    manipulation("coded", told=f"{Path(_path).name}: it no longer exists")(_delete)


@manipulation("coded", told="transcript.jsonl: it had")
def cut_the_end_of_the_transcript(places: Places) -> None:
    """The last line of the transcript is cut off."""
    _cut(_file(places, "transcript.jsonl"))


@manipulation("coded", told="transcript.jsonl: it had")
def empty_the_transcript(places: Places) -> None:
    """The transcript is emptied."""
    _file(places, "transcript.jsonl").write_bytes(b"")


@manipulation("coded", told="transcript.jsonl: it had")
def put_back_an_old_transcript(places: Places) -> None:
    """The transcript is put back from a backup that was made before the redaction."""
    shutil.copy(places.backup / "transcript.jsonl", _file(places, "transcript.jsonl"))


@rewritten("transcript.jsonl", told="it no longer says that")
def take_a_redaction_out(lines: Sequence[Line]) -> Sequence[Line]:
    """The line of a redaction is left out, and all sums are made again."""
    return [line for line in lines if line.kind != "redact.put"]


@rewritten("transcript.jsonl", told="it no longer says that")
def shorten_a_redaction(lines: Sequence[Line]) -> Sequence[Line]:
    """A redacted stretch is made shorter, and all sums are made again."""
    return [
        line._replace(body={**line.body, "t1_ns": line.body["t0_ns"] + 1})
        if line.kind == "redact.put"
        else line
        for line in lines
    ]


@rewritten("transcript.jsonl", told="transcript.jsonl: its content of")
def change_a_word(lines: Sequence[Line]) -> Sequence[Line]:
    """A text is another one, and all sums are made again."""
    return [
        line._replace(body={**line.body, "text": "yes"}) if line.kind == "text.put" else line
        for line in lines
    ]


@manipulation("coded", told="anna.jsonl: it had")
def put_back_the_folder_of_annotations(places: Places) -> None:
    """The whole folder of a session's annotations is put back from a backup."""
    folder = annotations_folder(places.coded)
    shutil.rmtree(folder)
    shutil.copytree(places.backup, folder)


@manipulation("coded", told="anna.jsonl: it no longer exists")
def delete_the_folder_of_annotations(places: Places) -> None:
    """The folder of a session's annotations is deleted."""
    shutil.rmtree(annotations_folder(places.coded))


@manipulation("coded", told="not recorded in anchor.jsonl")
def delete_the_anchor(places: Places) -> None:
    """The anchor of the data folder is deleted."""
    (places.coded.parents[1] / ANCHOR).unlink()


@manipulation("coded", told=f"{ANCHOR}, line 3: something above it was changed")
def change_a_line_of_the_anchor(places: Places) -> None:
    """A line of the anchor is changed."""
    path = places.coded.parents[1] / ANCHOR
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"lines": ', b'"lines": 1')
    path.write_bytes(b"".join(lines))


@manipulation("coded", told="withdrawn.jsonl: not recorded in anchor.jsonl")
def cut_the_end_of_the_anchor(places: Places) -> None:
    """The last line of the anchor is cut off."""
    _cut(places.coded.parents[1] / ANCHOR)


@manipulation("coded", told="anna.jsonl, line 3: it has the number 4")
def take_a_line_of_codes_out(places: Places) -> None:
    """A line in the middle of a rater's file is taken out."""
    path = _file(places, "raters/anna.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], *lines[3:]]))


@rewritten("raters/anna.jsonl", told="anna.jsonl: it had")
def take_a_line_of_codes_out_and_number_again(lines: Sequence[Line]) -> Sequence[Line]:
    """A line in the middle of a rater's file is taken out; numbers and sums are made again."""
    return [*lines[:2], *lines[3:]]


@manipulation("coded", told="something above it was changed")
def take_a_line_of_codes_out_and_keep_the_chain(places: Places) -> None:
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


@manipulation("coded", told="the round independent was locked, and the file does not say so")
def cut_the_line_that_locks(places: Places) -> None:
    """The line by which coding was locked is cut off."""
    _cut(_file(places, "raters/anna.jsonl"))


@manipulation("coded", told="anna.jsonl: it had")
def empty_a_raters_file(places: Places) -> None:
    """A rater's file is emptied."""
    _file(places, "raters/anna.jsonl").write_bytes(b"")


@rewritten("raters/anna.jsonl", told="its content of")
def change_a_code_after_the_lock(lines: Sequence[Line]) -> Sequence[Line]:
    """A code is another one after it was locked, and all sums are made again."""
    return _code(lines)


@manipulation("coded", told="something above it was changed")
def change_a_code_and_its_sum(places: Places) -> None:
    """A code is another one, and the sum of its line is made again."""
    from labapp.coding.annotations.ledger import encode

    path = _file(places, "raters/anna.jsonl")
    raw = path.read_bytes().splitlines()
    first = next(n for n, line in enumerate(raw) if b'"mark.put"' in line)
    changed = _code(read(path).lines)[first]
    raw[first] = encode(changed, json.loads(raw[first])["prev"])
    path.write_bytes(b"".join(line + b"\n" for line in raw))


@rewritten("raters/anna.jsonl", told="were changed after it was locked")
def add_a_code_after_the_lock(lines: Sequence[Line]) -> Sequence[Line]:
    """A code is added behind the lock, and all sums are made again."""
    put = next(line for line in lines if line.kind == "mark.put")
    return [*lines, put._replace(utc=lines[-1].utc, body={**put.body, "id": "b" * 16})]


@manipulation("coded", told="it is not chained as those above it")
def add_a_code_by_hand(places: Places) -> None:
    """A line is added as an older labapp would have written it."""
    from labapp.coding.annotations.ledger import encode

    path = _file(places, "raters/anna.jsonl")
    last = read(path).lines[-1]
    with path.open("ab") as file:
        file.write(encode(last._replace(seq=last.seq + 1)) + b"\n")


@manipulation("coded", told="its marks were made by anna")
def give_codes_to_another_rater(places: Places) -> None:
    """A rater's file gets another's name."""
    path = _file(places, "raters/anna.jsonl")
    path.rename(path.with_name("carl.jsonl"))


@rewritten("units.jsonl", told="units.jsonl: its content of")
def move_a_unit(lines: Sequence[Line]) -> Sequence[Line]:
    """A unit ends later, and all sums are made again."""
    return [
        line._replace(body={**line.body, "t1_ns": line.body["t1_ns"] + 1_000})
        if line.kind == "unit.put"
        else line
        for line in lines
    ]


@manipulation("coded", told="assignments.jsonl: its content of")
def change_who_codes_what(places: Places) -> None:
    """Another rater is assigned, and all sums are made again."""
    path = _log(places, "annotations/assignments.jsonl")

    def other(lines: Sequence[Line]) -> list[Line]:
        text = [json.loads(json.dumps(line.body).replace("anna", "carl")) for line in lines]
        return [line._replace(body=body) for line, body in zip(lines, text, strict=True)]

    _rewrite(path, other)


@manipulation("coded", told=".yaml: it no longer exists")
def delete_a_stored_codebook(places: Places) -> None:
    """The version of the codebook by which codes were given is deleted."""
    (path,) = _log(places, "annotations/codebooks").glob("*.yaml")
    path.unlink()


@manipulation("coded", told="its name is the SHA-256 of its original content")
def change_a_stored_codebook(places: Places) -> None:
    """The version of the codebook by which codes were given is changed."""
    (path,) = _log(places, "annotations/codebooks").glob("*.yaml")
    path.write_bytes(path.read_bytes() + b"# more\n")


@manipulation("coded", told=".yaml: it had 97 lines")
def take_the_words_out_of_a_stored_codebook(places: Places) -> None:
    """It says that its words were withheld, as labapp writes it, and a code is another one."""
    from labapp.coding.annotations.codebook import read as read_codebook
    from labapp.coding.annotations.codebook import without_words

    (path,) = _log(places, "annotations/codebooks").glob("*.yaml")
    path.write_bytes(without_words(read_codebook(path)).replace(b"Exploring", b"Guessing"))


@manipulation("coded", told="decisions.jsonl: it had")
def cut_a_decision(places: Places) -> None:
    """The last decision is cut off."""
    _cut(_log(places, "decisions.jsonl"))


@manipulation("coded", told="decisions.jsonl, line 2: something above it was changed")
def change_a_decision(places: Places) -> None:
    """The reason of a decision is another one."""
    path = _log(places, "decisions.jsonl")
    path.write_bytes(path.read_bytes().replace(b"asleep", b"a wake"))


@manipulation("coded", told="decisions.jsonl, line 3: it is not chained")
def add_a_decision_by_hand(places: Places) -> None:
    """A decision is added with an editor."""
    line = {"session": places.coded.name, "utc": "", "included": True, "text": "all well"}
    with _log(places, "decisions.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")


@manipulation("coded", told="comments.jsonl: its content of")
def change_a_remark(places: Places) -> None:
    """A remark is another one."""
    path = _log(places, "comments.jsonl")
    path.write_bytes(path.read_bytes().replace(b"coughs", b"sleeps"))


@manipulation("coded", told="exports.jsonl: it had")
def empty_the_log_of_exports(places: Places) -> None:
    """The log of exports is emptied."""
    _log(places, "exports.jsonl").write_bytes(b"")


@manipulation("coded", told="withdrawn.jsonl: it had")
def cut_a_withdrawal(places: Places) -> None:
    """The last line of the list of withdrawals is cut off."""
    _cut(_log(places, "withdrawn.jsonl"))


@manipulation("coded", unnoticed=INSIDER)
def change_a_code_and_the_anchor(places: Places) -> None:
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


@manipulation("coded", unnoticed=BACKUP)
def put_back_the_whole_data_folder(places: Places) -> None:
    """The whole data folder is put back from a backup that was made before the last withdrawal."""
    data = places.coded.parents[1]
    _cut(data / ANCHOR)
    _log(places, "withdrawn.jsonl").unlink()
