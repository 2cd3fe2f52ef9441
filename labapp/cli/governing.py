"""Commands of `labapp code` about who codes what, what is settled, and what may leave the lab.

Commands of `labapp code` that write codings for other tools, and bring their files in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labapp.base.console import say, say_json, say_line
from labapp.base.errors import NotFoundError, TargetExists, UsageError
from labapp.cli import completion
from labapp.cli.options import (
    Book,
    Data,
    Json,
    SessionName,
    SessionNames,
    SessionOrBundle,
    progress_bar,
    session_or_study,
    session_path,
    show,
    study_folder,
)

if TYPE_CHECKING:
    from labapp.coding.annotations.model import Status
    from labapp.coding.annotations.rounds import CloseReport
    from labapp.coding.annotations.settlements import Disagreement


Study = Annotated[
    str,
    typer.Argument(
        help="A study's id, or the folder of its sessions.",
        autocompletion=completion.recorded_studies,
    ),
]


def code_assign(
    study: Study,
    raters: Annotated[
        str, typer.Option("--raters", metavar="NAME,NAME", help="Who codes, parted by commas.")
    ],
    both: Annotated[
        float, typer.Option("--both", metavar="SHARE", help="Share that is coded twice, 0 to 1.")
    ] = 0.2,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same draw.")] = 1,
    training: Annotated[
        bool, typer.Option("--training", help="To learn the codebook; never counted.")
    ] = False,
    data: Data = None,
    json_: Json = False,
) -> None:
    """Draw who codes which session, and which stretches a second rater codes, too.

    Stretches are drawn over all sessions, in proportion to conditions. What is assigned stays;
    sessions that come later are drawn by calling this again.

    Example: labapp code assign my-study --raters anna,ben --both 0.2 --seed 1
    """
    from labapp.coding.annotations.rounds import assign_study

    names = [name.strip() for name in raters.split(",") if name.strip()]
    round_ = "training" if training else "independent"
    report = assign_study(study_folder(study, data), names, both, seed, round_)  # type: ignore[arg-type]
    show(report, json_)


def code_lock(
    study: Study,
    rater: Annotated[
        list[str] | None,
        typer.Option("--rater", help="Whose coding; all who are done if left out."),
    ] = None,
    data: Data = None,
    json_: Json = False,
) -> None:
    """Lock coding that is done, before raters talk about it: agreement is reported from it alone.

    It cannot be unlocked. Example: labapp code lock my-study --rater anna --rater ben
    """
    from labapp.coding.annotations.rounds import close

    _say_closed([close(study_folder(study, data), rater or ())], "locked", json_)


def code_done(
    sessions: SessionNames,
    rater: Annotated[list[str], typer.Option("--rater", help="Whose coding.")],
    reopen: Annotated[
        bool, typer.Option("--reopen", help="The coding is not done after all; not if locked.")
    ] = False,
    data: Data = None,
    json_: Json = False,
) -> None:
    """Say that independent coding is done, as after an import, without opening each session.

    Example: labapp code done my-study --rater anna
    """
    from labapp.coding.annotations.rounds import close
    from labapp.record.journal.opening import places

    by_study: dict[Path, set[str]] = {}
    for path in (path for name in sessions for path in places(session_or_study(name, data))):
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
    study: Study,
    settle: Annotated[
        int | None, typer.Option("--settle", metavar="NUMBER", help="The one to settle.")
    ] = None,
    by: Annotated[str | None, typer.Option("--by", help="Who settles it.")] = None,
    take: Annotated[
        str | None, typer.Option("--take", metavar="RATER", help="This rater is right.")
    ] = None,
    code: Annotated[
        list[str] | None, typer.Option("--code", help="Another code holds; give it again for more.")
    ] = None,
    nothing: Annotated[bool, typer.Option("--nothing", help="Nothing was to be coded.")] = False,
    reason: Annotated[str, typer.Option("--reason", help="Why.")] = "",
    data: Data = None,
    json_: Json = False,
) -> None:
    """Where raters differ in coding that is locked; and settle one of these with a reason.

    Coding that is not locked is left out, and named: `labapp code lock` comes first.

    Example: labapp code adjudicate my-study --settle 3 --by cleo --take anna --reason "an aim"
    """
    from labapp.coding.annotations.rounds import study_disagreements

    folder = study_folder(study, data)
    report = study_disagreements(folder)
    differences = report.differences
    _say_left_out(report.left_out)
    if settle is not None:
        if not 1 <= settle <= len(differences):
            raise UsageError(
                f"There is no disagreement {settle}: there are {len(differences)}."
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
        say("Raters differ nowhere in what is locked, or nothing was coded twice.")


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
        raise UsageError("Who settles it is missing.", todo="Say it with --by NAME.")
    if (take is not None) + bool(codes) + nothing != 1:
        raise UsageError(
            "What holds is missing, or said twice.",
            todo="Give one of --take RATER, --code CODE and --nothing.",
        )
    if take is not None and take not in difference.marks:
        raise UsageError(
            f"{take!r} did not code this.", todo=f"Take one of {', '.join(difference.marks)}."
        )
    marks = difference.marks[take] if take else ()
    if codes:
        marks = adjudicate_difference(difference, codes, versions_of(folder))
    settle(folder, difference, by, marks, reason)


def code_redact(
    session: SessionName,
    begin: Annotated[str, typer.Argument(metavar="T0", help="Session time: 12:34.5, or seconds.")],
    end: Annotated[str, typer.Argument(metavar="T1", help="Its end, likewise.")],
    by: Annotated[str, typer.Option("--by", help="Who redacts: a rater's name.")],
    replacement: Annotated[
        str, typer.Option("--replacement", help="What stands for the words.")
    ] = "[…]",
    data: Data = None,
) -> None:
    """Let neither sound nor words of a stretch leave the lab.

    The words go out of the files of annotations for good. The recording stays as it is; it is
    silent there in every bundle, pack and clip.

    Example: labapp code redact sub-P01_ses-1_20260102T030405Z 12:34.5 12:36 --by anna
    """
    from labapp.coding.annotations.model import time_ns
    from labapp.coding.annotations.redacting import redact

    report = redact(session_path(session, data), time_ns(begin), time_ns(end), by, replacement)
    for line in report.lines():
        say_line(line)


def code_pack(
    study: Study,
    rater: Annotated[str, typer.Option("--rater", help="Whom it is for.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE.zip", help="The file to write.")],
    training: Annotated[
        bool, typer.Option("--training", help="What was assigned to learn the codebook.")
    ] = False,
    data: Data = None,
    json_: Json = False,
) -> None:
    """What a rater on another computer needs: assigned sound, units, text, and the codebook.

    No condition, no outcome and no note is in it. It is written down, so that a withdrawal can say
    where it went. On the other computer: labapp code open FILE.zip --rater NAME

    Example: labapp code pack my-study --rater ben --out ben.zip
    """
    from labapp.coding.annotations.packs import make_pack

    round_ = "training" if training else "independent"
    with progress_bar("packing sound"):
        report = make_pack(study_folder(study, data), rater, out, round_)  # type: ignore[arg-type]
    show(report, json_)


def code_receive(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A coded pack, zipped or not, or a rater's file.")
    ],
    study: Annotated[str, typer.Option("--study", help="A study's id, or its folder.")],
    data: Data = None,
    json_: Json = False,
) -> None:
    """Take in the marks of a rater on another computer, checked; nothing is overwritten.

    Example: labapp code receive ben.zip --study my-study
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
                f"{entry.session}: not taken in are {entry.ignored} changes of units or text, "
                "which are the study's: make them there."
            )
        if entry.redacted:
            say_line(
                f"{entry.session}: not taken in are the remarks on {entry.redacted} marks, where "
                "something was redacted since the pack was made."
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
    session: SessionOrBundle,
    rater: Annotated[
        str, typer.Option("--rater", help="Whose coding; final for the one that counts.")
    ],
    to: Annotated[
        str, typer.Option("--to", help="eaf, textgrid, vtt, srt, audacity, qdpx, boris or csv.")
    ],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="PATH", help="The file; of several sound files a folder."),
    ],
    joined: Annotated[
        bool,
        typer.Option("--joined", help="One sound file of the whole session is made, silent gaps."),
    ] = False,
    with_sound: Annotated[
        bool, typer.Option("--with-sound", help="Copy the sound beside, instead of linking it.")
    ] = False,
    no_sound: Annotated[
        bool, typer.Option("--no-sound", help="Link no sound: times are session times.")
    ] = False,
    transcript_codings: Annotated[
        bool,
        typer.Option(
            "--transcript-codings",
            help="qdpx: codes of units on the transcript, instead of on words beside.",
        ),
    ] = False,
    codebook: Book = "",
    data: Data = None,
    json_: Json = False,
) -> None:
    """Write units, text and codes of a session for ELAN, Praat, NVivo, BORIS and others.

    Each sound file has a file of its own, in its own time; qdpx and boris hold all in one. What
    is redacted is silent and unsaid. What a format has no place for is listed.

    Example: labapp code export sub-P01_ses-1_20260102T030405Z --rater anna --to eaf --out P01.eaf
    """
    from labapp.coding.exchange.gathering import Base, export_coding
    from labapp.coding.exchange.incoming import ON_TRANSCRIPT, format_named
    from labapp.record.journal.opening import open_record

    if no_sound and (joined or with_sound):
        raise UsageError(
            "--no-sound goes with neither --joined nor --with-sound.", todo="Leave one of them out."
        )
    form = format_named(to)
    if transcript_codings:
        if form.name != ON_TRANSCRIPT.name:
            raise UsageError(
                "--transcript-codings goes with --to qdpx alone.", todo="Leave it out."
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
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of another tool.")],
    session: Annotated[
        str,
        typer.Option(
            "--session",
            metavar="NAME",
            help="The session: its name or folder.",
            autocompletion=completion.sessions,
        ),
    ],
    rater: Annotated[str, typer.Option("--rater", help="Whose marks its codes become.")],
    map_: Annotated[
        Path | None,
        typer.Option(
            "--map",
            metavar="FILE.csv",
            help="What tiers and codes are called here: tier,code,to_tier,to_code.",
        ),
    ] = None,
    time: Annotated[
        str,
        typer.Option(
            "--time", metavar="WHAT", help="Whose time it has: session, or segment-01.wav."
        ),
    ] = "",
    words_into_units: Annotated[
        bool,
        typer.Option(
            "--words-into-units",
            help="Put words into the units that are there and that they overlap most.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be changed, and change nothing.")
    ] = False,
    codebook: Book = "",
    data: Data = None,
    json_: Json = False,
) -> None:
    """Bring in what was coded or written in another tool: only what differs is changed.

    Nothing is taken away unless the file says that it went out from here with it. Frozen units are
    not changed: changes of them wait as proposals. What cannot be brought over is listed.

    Example: labapp code import P01.eaf --session sub-P01_ses-1_20260102T030405Z --rater anna
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
    study: Annotated[
        str, typer.Argument(metavar="STUDY|FILE", help="A study's id or folder, or a codebook.")
    ],
    to: Annotated[str, typer.Option("--to", help="csv or qdc.")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The file to write.")
    ] = None,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE.qdc", help="Make the codebook of a study that has none."
        ),
    ] = None,
    withhold: Annotated[
        bool,
        typer.Option(
            "--withhold",
            help="Take examples, explanations and comments out of the versions of a study's "
            "codebooks that are kept with its codes.",
        ),
    ] = False,
    codebook: Book = "",
    data: Data = None,
) -> None:
    """Write a codebook for other tools, or make one of theirs.

    REFI-QDA codebooks (.qdc) are those of NVivo, MAXQDA, ATLAS.ti, QualCoder and others.

    Example: labapp code codebook my-study --to qdc --out codes.qdc
    """
    from labapp.coding.annotations.codebook import read, withhold_words
    from labapp.coding.exchange.incoming import CODEBOOK_FORMATS, choose_codebook

    if withhold:
        changed = withhold_words(study_folder(study, data))
        say(f"{len(changed)} stored versions hold no free text any more. Codes are as they were.")
        return
    if from_ is not None:
        if to or out is not None or codebook:
            raise UsageError(
                "--from goes with neither --to nor --out nor --codebook.",
                todo="A codebook comes in, or goes out.",
            )
        _new_codebook(from_, study_folder(study, data), study)
        return
    if to not in CODEBOOK_FORMATS or out is None:
        unknown = to and to not in CODEBOOK_FORMATS
        what = f"Codebooks are not written as {to!r}." if unknown else "What to do is not said."
        formats = " or ".join(f"--to {name}" for name in CODEBOOK_FORMATS)
        raise UsageError(what, todo=f"Say {formats} with --out FILE, or --from FILE.qdc.")
    if Path(study).is_file():
        book = read(Path(study))
    else:
        codes = choose_codebook(study_folder(study, data), codebook)
        if codes is None:
            raise NotFoundError(
                f"{study} has no codebook.", todo="Its name is codebook.yaml, in that folder."
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
            todo="Name a study that has none, or write what is new into the codebook.",
        )
    book = incoming.read_codebook(file, folder)
    path = incoming.write_codebook(folder, book)
    say_line(path)
    say(
        f"{len(book.codes)} codes. See in the file whether their tiers are on units, and which "
        "exclude each other; give them keys."
    )


EXCHANGES: dict[str, Callable[..., None]] = {
    "export": code_export,
    "import": code_import,
    "codebook": code_codebook,
}
"""By the name behind `labapp code`."""
