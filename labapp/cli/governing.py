"""Commands of `labapp code` about who codes what, what is settled, and what may leave the lab.

Commands of `labapp code` that write codings for other tools, and bring their files in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from labapp.base.console import say, say_json, say_line
from labapp.base.errors import NotFoundError, TargetExists, UsageError
from labapp.cli import completion
from labapp.cli.options import progress_bar, session_path, show, study_folder, study_path

if TYPE_CHECKING:
    from labapp.coding.annotations.model import Status
    from labapp.coding.annotations.rounds import CloseReport
    from labapp.coding.annotations.settlements import Disagreement


def code_assign(
    study: completion.RecordedStudy,
    raters: str,
    both: float = 0.2,
    seed: int = 1,
    training: bool = False,
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Draw which rater codes which session, and which stretches a second rater codes as well.

    Stretches are drawn from all sessions, in proportion to the conditions. Run the command again
    to assign sessions that were recorded later. Existing assignments stay.

    Example: labapp code assign my-study --raters anna,ben --both 0.2 --seed 1

    study: A study's id, or the folder with its sessions.
    --raters NAME,NAME: The raters' names, separated by commas.
    --both SHARE: The share that two raters code, from 0 to 1.
    --seed: The seed of the draw. The same seed gives the same draw.
    --training: Assign sessions for practice, which never count.
    """
    from labapp.coding.annotations.rounds import assign_study

    names = [name.strip() for name in raters.split(",") if name.strip()]
    round_ = "training" if training else "independent"
    report = assign_study(study_folder(study, data), names, both, seed, round_)  # type: ignore[arg-type]
    show(report, json_)


def code_lock(
    study: completion.RecordedStudy,
    rater: list[str] | None = None,
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Lock finished coding before raters discuss it. Agreement is reported only from locked
    coding.

    It cannot be unlocked again.

    Example: labapp code lock my-study --rater anna --rater ben

    study: A study's id, or the folder with its sessions.
    --rater: The rater whose coding is locked. Can be repeated. Default: every rater who is done.
    """
    from labapp.coding.annotations.rounds import close

    _say_closed([close(study_folder(study, data), rater or ())], "locked", json_)


def code_done(
    sessions: list[completion.SessionOrStudy],
    rater: list[str],
    reopen: bool = False,
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Mark independent coding as done without opening each session, such as after an import.

    Example: labapp code done my-study --rater anna

    --rater: The rater's name.
    --reopen: Open finished coding again, unless it is locked.
    """
    from labapp.coding.annotations.rounds import close
    from labapp.record.journal.opening import places

    by_study: dict[Path, set[str]] = {}
    for path in (
        path for name in sessions for path in places(study_path(name, data, sessions=True))
    ):
        by_study.setdefault(path.absolute().parent, set()).add(path.name)
    to: Status = "draft" if reopen else "done"
    closed = [close(study, rater, to, only) for study, only in by_study.items()]
    _say_closed(closed, "open again" if reopen else "done", json_)


def _say_closed(reports: Sequence[CloseReport], to: str, json_: bool) -> None:
    from dataclasses import asdict

    for report in reports:
        _say_left_out(report.left_out)
    closed = [entry for report in reports for entry in report.closed]
    if json_:
        say_json([asdict(entry) for entry in closed])
        return
    for entry in closed:
        units = "unit" if entry.uncoded == 1 else "units"
        left = f"; {entry.uncoded} {units} without a code" if entry.uncoded else ""
        say_line(f"{entry.session}: {entry.marks} marks of {entry.rater} are {to}{left}")


def code_adjudicate(
    study: completion.RecordedStudy,
    settle: int | None = None,
    by: str | None = None,
    take: str | None = None,
    code: list[str] | None = None,
    nothing: bool = False,
    reason: str = "",
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """List where raters differ in locked coding, or settle one difference with a reason.

    Coding that is not locked is listed and left out. Lock it first with `labapp code lock`.

    Example: labapp code adjudicate my-study --settle 3 --by cleo --take anna --reason "an aim"

    study: A study's id, or the folder with its sessions.
    --settle NUMBER: The number of the difference to settle.
    --by: The name of the person who settles it.
    --take RATER: The rater who is right.
    --code: The code that is right instead. Can be repeated.
    --nothing: Decide that there is nothing to code.
    --reason: The reason.
    """
    from labapp.coding.annotations.rounds import study_disagreements

    folder = study_folder(study, data)
    report = study_disagreements(folder)
    differences = report.differences
    _say_left_out(report.left_out)
    if settle is not None:
        if not 1 <= settle <= len(differences):
            raise UsageError(
                f"There is no disagreement {settle}. There are {len(differences)} in all."
                + "".join(f" {name}: {why}" for name, why in report.left_out),
                safe="Nothing was settled.",
                todo="`labapp code adjudicate STUDY` lists them, once coding is locked.",
            )
        _settle(folder, differences[settle - 1], by, take, code or [], nothing, reason)
        say(f"{settle} is settled.")
        return
    rows = [
        {
            "number": number,
            "session": d.session,
            "t0_s": d.t0_ns / 1e9,
            "t1_s": d.t1_ns / 1e9,
            "tier": d.tier,
            "unit": d.unit,
            "codes": {rater: [mark.code for mark in marks] for rater, marks in d.marks.items()},
            "settled": None
            if d.settlement is None
            else {
                "codes": [mark.code for mark in d.settlement.marks],
                "by": d.settlement.by,
                "reason": d.settlement.reason,
            },
        }
        for number, d in enumerate(differences, start=1)
    ]
    if json_:
        say_json(rows)
        return
    for row, d in zip(rows, differences, strict=True):
        codes = "; ".join(
            f"{rater}: {', '.join(m.code for m in marks) or 'nothing'}"
            for rater, marks in d.marks.items()
        )
        end = ""
        if d.settlement is not None:
            holds = ", ".join(mark.code for mark in d.settlement.marks) or "nothing"
            end = f" → {holds} ({d.settlement.by}: {d.settlement.reason})"
        begin = f"{d.t0_ns / 1e9:.1f}–{d.t1_ns / 1e9:.1f} s"
        say_line(f"{row['number']}  {d.session}  {begin}  {d.tier}  {codes}{end}")
    if not rows:
        say("The raters agree on everything that is locked, or nothing was coded twice.")


def _say_left_out(left_out: Iterable[tuple[str, str]]) -> None:
    """Beside what is printed, so that JSON stays what it is."""
    for name, why in left_out:
        say_line(f"Left out: {name}: {why}", err=True)


def _settle(
    folder: Path,
    difference: Disagreement,
    by: str | None,
    take: str | None,
    codes: list[str],
    nothing: bool,
    reason: str,
) -> None:
    from labapp.coding.annotations.codebook import versions_of
    from labapp.coding.annotations.rounds import adjudicate_difference, settle

    if by is None:
        raise UsageError(
            "The command does not say who settles the difference.", todo="Add --by NAME."
        )
    if (take is not None) + bool(codes) + nothing != 1:
        raise UsageError(
            "The decision is missing, or was given twice.",
            todo="Give one of --take RATER, --code CODE and --nothing.",
        )
    if take is not None and take not in difference.marks:
        raise UsageError(
            f"{take!r} did not code this.", todo=f"Choose one of {', '.join(difference.marks)}."
        )
    marks = difference.marks[take] if take else ()
    if codes:
        marks = adjudicate_difference(difference, codes, versions_of(folder))
    settle(folder, difference, by, marks, reason)


def code_redact(
    session: completion.Session,
    begin: str,
    end: str,
    by: str,
    replacement: str = "[…]",
    data: Path | None = None,
) -> None:
    """Redact a stretch, so that its sound and words never leave the lab.

    The words are removed from the annotation files for good. The recording itself is not changed,
    but the stretch is silent in every bundle, pack and clip.

    Example: labapp code redact sub-P01_ses-1_20260102T030405Z 12:34.5 12:36 --by anna

    begin T0: The session time at which it begins, such as 12:34.5, or in seconds.
    end T1: The session time at which it ends.
    --by: The name of the person who redacts.
    --replacement: The text that replaces the words.
    """
    from labapp.coding.annotations.model import time_ns
    from labapp.coding.annotations.redacting import redact

    report = redact(session_path(session, data), time_ns(begin), time_ns(end), by, replacement)
    for line in report.lines():
        say_line(line)


def code_pack(
    study: completion.RecordedStudy,
    rater: str,
    out: Path,
    training: bool = False,
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Make a pack for a rater on another computer, with the assigned sound, units and text, and
    the codebook.

    A pack contains no conditions, outcomes or notes. It is recorded in the study, so that labapp
    can mention it when a participant withdraws. On the other computer, run: labapp code open
    FILE.zip --rater NAME

    Example: labapp code pack my-study --rater ben --out ben.zip

    study: A study's id, or the folder with its sessions.
    --rater: The rater who gets the pack.
    --out FILE.zip: The file to write.
    --training: Pack the sessions that were assigned for practice.
    """
    from labapp.coding.annotations.packs import make_pack

    round_ = "training" if training else "independent"
    with progress_bar("packing sound"):
        report = make_pack(study_folder(study, data), rater, out, round_)  # type: ignore[arg-type]
    show(report, json_)


def code_receive(file: Path, study: str, data: Path | None = None, json_: bool = False) -> None:
    """Receive the codes of a rater from another computer. They are checked, and nothing is
    overwritten.

    Example: labapp code receive ben.zip --study my-study

    file FILE: A coded pack (folder or zip), or a rater's file.
    --study: A study's id or folder.
    """
    from dataclasses import asdict

    from labapp.coding.annotations.packs import receive

    received = receive(study_folder(study, data), file)
    if json_:
        say_json([asdict(entry) for entry in received])
        return
    for entry in received:
        beyond = f"; {entry.beyond} outside of what was assigned" if entry.beyond else ""
        say_line(
            f"{entry.session}: {entry.marks} marks of {entry.rater} ({entry.status}), "
            f"{entry.lines} new lines{beyond}"
        )
        if entry.ignored:
            say_line(
                f"{entry.session}: {entry.ignored} changes to units or text were not accepted, "
                "because units and text belong to the study. Make these changes there."
            )
        if entry.redacted:
            say_line(
                f"{entry.session}: remarks on {entry.redacted} marks were not accepted, because "
                "something there was redacted after the pack was made."
            )
        if entry.remark:
            say_line(f"{entry.session}: {entry.remark} Have the file sent again.")


COMMANDS: dict[str, Callable[..., None]] = {
    "assign": code_assign,
    "done": code_done,
    "lock": code_lock,
    "adjudicate": code_adjudicate,
    "redact": code_redact,
    "pack": code_pack,
    "receive": code_receive,
}
"""By the name behind `labapp code`."""


def code_export(
    session: completion.Session,
    rater: str,
    to: str,
    out: Path,
    joined: bool = False,
    with_sound: bool = False,
    no_sound: bool = False,
    transcript_codings: bool = False,
    codebook: str = "",
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Export a session's units, text and codes to ELAN, Praat, NVivo, BORIS and other tools.

    Each sound file gets its own export, with times relative to that sound. qdpx and boris put
    everything into one file. Redacted stretches are silent and without words. The command lists
    what a format cannot contain.

    Example: labapp code export sub-P01_ses-1_20260102T030405Z --rater anna --to eaf --out P01.eaf

    session: A session's name or folder, or a bundle.
    --rater: The rater's name, or `final` for the final coding.
    --to: eaf, textgrid, vtt, srt, audacity, qdpx, boris or csv.
    --out PATH: The file to write, or a folder if there are several sound files.
    --joined: Make one sound file of the whole session, with silence in gaps.
    --with-sound: Copy the sound next to the export instead of linking it.
    --no-sound: Do not link any sound. Times are then session times.
    --transcript-codings: For qdpx: put codes of units on the transcript instead of on a separate
        text.
    """
    from labapp.coding.exchange.gathering import Base, export_coding
    from labapp.coding.exchange.incoming import ON_TRANSCRIPT, format_named
    from labapp.record.journal.opening import open_record

    if no_sound and (joined or with_sound):
        raise UsageError(
            "--no-sound cannot be combined with --joined or --with-sound.",
            todo="Leave one of them out.",
        )
    form = format_named(to)
    if transcript_codings:
        if form.name != ON_TRANSCRIPT.name:
            raise UsageError(
                "--transcript-codings works only with --to qdpx.", todo="Leave it out."
            )
        form = ON_TRANSCRIPT
    base: Base = "joined" if joined else "session" if no_sound else "files"
    record = open_record(session_path(session, data))
    with progress_bar(str(record.name)):
        exported = export_coding(
            record, rater, form, out, base=base, codebook=codebook, with_sound=with_sound
        )
    if json_:
        say_json(exported.to_json())
        return
    for path in exported.files:
        say_line(path)
    for why in exported.lost:
        say_line(f"not in it: {why}", err=True)
    say(f"{exported.marks} codes, {exported.units} units.")


def code_import(
    file: Path,
    session: completion.Session,
    rater: str,
    map_: Path | None = None,
    time: str = "",
    words_into_units: bool = False,
    dry_run: bool = False,
    codebook: str = "",
    data: Path | None = None,
    json_: bool = False,
) -> None:
    """Import codes and words from another tool. Only differences are changed.

    Nothing is removed unless labapp previously exported it to this file. Frozen units are not
    changed, so changes to them become proposals. The command lists what it cannot import.

    Example: labapp code import P01.eaf --session sub-P01_ses-1_20260102T030405Z --rater anna

    file FILE: The file of the other tool.
    --session NAME: The session's name or folder.
    --rater: The rater to whom the codes are assigned.
    --map FILE.csv: A table that renames tiers and codes: tier,code,to_tier,to_code.
    --time WHAT: What the file's times are relative to: session, or a sound file such as
        segment-01.wav.
    --words-into-units: Put words into the existing units that they overlap most.
    --dry-run: Only show what would change.
    """
    from labapp.coding.exchange import incoming
    from labapp.coding.exchange.coming_in import bring_in, plan_import
    from labapp.record.journal.opening import open_record

    path = session_path(session, data)
    record = open_record(path)
    plan = plan_import(
        record,
        rater,
        incoming.read(file),
        translation=incoming.read_translation(map_) if map_ is not None else None,
        codebook=codebook,
        time=time,
        words_only=words_into_units,
    )
    if not dry_run and not plan.empty:
        bring_in(plan, path, record)
    if json_:
        say_json({**plan.to_json(), "applied": not dry_run and not plan.empty})
        return
    for line in plan.lines():
        say_line(line)
    if dry_run:
        say("Nothing was changed (--dry-run).")


def code_codebook(
    study: str,
    to: str = "",
    out: Path | None = None,
    from_: Path | None = None,
    withhold: bool = False,
    codebook: str = "",
    data: Path | None = None,
) -> None:
    """Write a codebook for other tools, or make one from a file of another tool.

    NVivo, MAXQDA, ATLAS.ti, QualCoder and others use REFI-QDA codebooks (.qdc).

    Example: labapp code codebook my-study --to qdc --out codes.qdc

    study STUDY|FILE: A study's id or folder, or a codebook.
    --to: csv or qdc.
    --out FILE: The file to write.
    --from FILE.qdc: Make a codebook from this file, for a study that has none.
    --withhold: Remove examples, explanations and comments from the codebook versions that are
        stored with the study's codes.
    """
    from labapp.coding.annotations.codebook import read, withhold_words
    from labapp.coding.exchange.incoming import CODEBOOK_FORMATS, choose_codebook

    if withhold:
        changed = withhold_words(study_folder(study, data))
        say(f"Free text was removed from {len(changed)} stored versions. Codes are unchanged.")
        return
    if from_ is not None:
        if to or out is not None or codebook:
            raise UsageError(
                "--from cannot be combined with --to, --out or --codebook.",
                todo="Give either a codebook to read or a file to write.",
            )
        _new_codebook(from_, study_folder(study, data), study)
        return
    if to not in CODEBOOK_FORMATS or out is None:
        unknown = to and to not in CODEBOOK_FORMATS
        what = "The command does not say what to do."
        if unknown:
            what = f"Codebooks cannot be written as {to!r}."
        formats = " or ".join(f"--to {name}" for name in CODEBOOK_FORMATS)
        raise UsageError(what, todo=f"Use {formats} with --out FILE, or --from FILE.qdc.")
    if Path(study).is_file():
        book = read(Path(study))
    else:
        codes = choose_codebook(study_folder(study, data), codebook)
        if codes is None:
            raise NotFoundError(
                f"{study} has no codebook.", todo="It is the file codebook.yaml in that folder."
            )
        book = codes
    for why in CODEBOOK_FORMATS[to](book, out):
        say_line(f"not in it: {why}", err=True)
    say(f"{sum(not code.retired for code in book.codes)} codes: {out}")


def _new_codebook(file: Path, folder: Path, study: str) -> None:
    from labapp.coding.annotations.codebook import codebooks_of
    from labapp.coding.exchange import incoming

    if books := codebooks_of(folder):
        raise TargetExists(
            f"{study} has a codebook: {', '.join(book.id for book in books)}.",
            safe="It was not changed.",
            todo="Choose a study that has no codebook, or add the new codes to its codebook.",
        )
    book = incoming.read_codebook(file, folder)
    path = incoming.write_codebook(folder, book)
    say_line(path)
    say(
        f"{len(book.codes)} codes. In the file, check whether their tiers apply to units and "
        "which codes exclude each other, and give them keys."
    )


EXCHANGES: dict[str, Callable[..., None]] = {
    "export": code_export,
    "import": code_import,
    "codebook": code_codebook,
}
"""By the name behind `labapp code`."""
