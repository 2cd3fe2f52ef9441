"""`labapp studies …`: study files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from labapp.base.console import say, say_json
from labapp.base.errors import SetupError, StudyError, UsageError, faults_of
from labapp.cli import completion
from labapp.cli.commands import make_group
from labapp.cli.options import as_check, data_folder, make_exit, progress_bar, say_either, show

studies_app = make_group("studies", "labapp studies show quickstart")


@studies_app.command("list")
def studies_list(json_: bool = False) -> None:
    """List the studies of labapp and of installed packages.

    Example: labapp studies list
    """
    from labapp.study import loading

    rows = []
    for path in loading.list_installed():
        study = loading.load(path.stem).study
        rows.append({"id": study.id, "title": study.title, "version": study.version})
    widest = max(len(str(row["id"])) for row in rows)
    say_either(json_, rows, (f"{row['id']:{widest}}  {row['title']}" for row in rows), say)


@studies_app.command("show")
def studies_show(
    study: completion.Study, participants: int = 6, data: Path | None = None, json_: bool = False
) -> None:
    """Show a study's flow, how full each condition is, and the plans of the next participants.

    Example: labapp studies show quickstart

    --participants (1 to 1000): The number of plans to show.
    """
    from labapp.session.overview import overview

    show(overview(study, participants, data_folder(data)), json_, say)


@studies_app.command("check")
def studies_check(file: completion.Study, language: str | None = None, json_: bool = False) -> None:
    """Check a study file and everything it refers to, and list every mistake with file and line.

    Example: labapp studies check my-study.yaml

    file: A study's file or id.
    --language: The language, such as de. Default: the study's.
    """
    from labapp.analysis import checking
    from labapp.session.gate import MaskedPredictor, look_at
    from labapp.study import overview
    from labapp.study.loading import files_named

    predictor = MaskedPredictor()
    with as_check(), progress_bar("checking"):
        checked = look_at(file, language, predictor)
    if json_:
        say_json([asdict(fault) for error in checked.errors for fault in faults_of(error)])
    if checked.errors or checked.loaded is None:
        if json_:
            raise make_exit(well=False)
        with as_check():
            raise StudyError.together(checked.errors)
    if json_:
        return
    loaded = checked.loaded
    say(f"{loaded.path}: valid ({len(loaded.files)} files, {loaded.sha256[:12]}).")
    for named in files_named(loaded):
        say(f"  {named}")
    notices = (*overview.notices(loaded, checked.plans), *checking.notices(loaded))
    for notice in (*predictor.notices(), *notices):
        say(notice)


@studies_app.command("diff")
def studies_diff(before: completion.Study, after: completion.Study, json_: bool = False) -> None:
    """Show the differences between two versions of a study side by side: in its file, its
    questionnaires and its texts.

    Every session contains a copy of its study, so that a pilot can be compared with the main study.

    Example: labapp studies diff registered my-study.yaml

    before: The earlier version: a study's id or file, or the folder of a session or registration.
    after: The later version, given in the same way.
    """
    import shutil

    from labapp.study import versions

    differences = list(versions.compare(*map(versions.read_files, (before, after))))
    if json_:
        say_json([each._asdict() for each in differences])
        return
    width = max((shutil.get_terminal_size((100, 24)).columns - 4) // 2, 20)
    for each in differences:
        say(f"{each.file}, {each.place}" if each.place else each.file)
        for line in versions.format_side_by_side(each, width):
            say(line)
    if not differences:
        say("No differences.")


@studies_app.command("new")
def studies_new(
    name: str,
    from_: completion.Study = "quickstart",
    language: str | None = None,
    out: Path | None = None,
) -> None:
    """Make a study of your own by copying another one with everything that it needs.

    Example: labapp studies new my-study --from quickstart

    name: The name of the new study, such as my-study.
    --from STUDY: The study to copy.
    --language: The language of its texts, such as de or fr.
    --out: The folder to write. Default: a folder of that name here.
    """
    from labapp.study.authoring import new_study

    folder = Path(name) if out is None else out
    path, written = new_study(name, from_, folder, language)
    for file in written:
        say(file)
    say("")
    say("What to do next:")
    say(f"  labapp studies check {path}")
    say(f"  labapp studies preview {path}")
    say(f"  labapp run {path} --pilot")


@studies_app.command("texts")
def studies_texts(
    study: completion.Study,
    missing: bool = False,
    language: str | None = None,
    write: bool = False,
    json_: bool = False,
) -> None:
    """List a study's texts and where they come from, or what is missing in a language.

    Example: labapp studies texts my-study/my-study.yaml --missing --language fr --write

    --missing: List only what is missing in the language.
    --language: The language, such as fr. Default: the study's.
    --write: Write the missing texts next to the study, for you to translate.
    """
    from labapp.study import words
    from labapp.study.loading import source

    loaded, rows = words.lacking(study, language)
    if json_:
        say_json([{"name": row.name, "path": row.path, "lacks": row.what} for row in rows])
    elif missing or write:
        for row in rows:
            say(f"{row.name} lacks {row.what}")
        if not rows:
            languages = loaded.study.languages or (loaded.study.language,)
            say(f"Nothing is missing in {', '.join((language,) if language else languages)}.")
    else:
        for file in sorted(loaded.files):
            say(f"{file}: {source(loaded, file)}")
    if write:
        for path in words.write(loaded, rows):
            say(f"written: {path}")


@studies_app.command("instruments")
def studies_instruments(json_: bool = False) -> None:
    """List the questionnaires that studies can use: source, terms, languages, number of items.
    Those that do not come with labapp are listed at the end, each with the reason.

    Example: labapp studies instruments
    """
    from labapp.study.instruments.listing import list_instruments

    listed = list_instruments()
    if json_:
        say_json([asdict(each) for each in listed])
        return
    for each in listed:
        if not each.package:
            continue
        say(f"{each.id}  {each.title}")
        say(f"  {each.items} items; languages: {', '.join(each.languages)}")
        say(f"  {each.source}")
        say(f"  Terms: {each.terms or f'those of the package {each.package}'}")
    say("")
    say("Not part of labapp; write a file of your own once you have the right to use the words:")
    for each in listed:
        if not each.package:
            say(f"  {each.id}  {each.source}: {each.terms}")


@studies_app.command("consent")
def studies_consent(study: completion.Study, out: Path, language: str | None = None) -> None:
    """Write the consent form as a PDF, to print and sign by hand.

    Example: labapp studies consent quickstart --out consent.pdf

    --out: The PDF file to write.
    --language: The language, such as de. Default: the study's.
    """
    from labapp.study.loading import load
    from labapp.ui.qtapp import make_app

    loaded = load(study, language)
    make_app()
    from labapp.ui.consent_pdf import write_blank

    write_blank(out, loaded)
    say(f"form: {out}")


@studies_app.command("preview")
def studies_preview(
    study: completion.Study,
    participant: str | None = None,
    condition: str | None = None,
    order: int | None = None,
    language: str | None = None,
    out: Path | None = None,
) -> None:
    """Preview every screen of a study without a participant. Nothing is stored.

    The window lists each page of each part, each trial, and what can happen in it. With --out, a
    picture of every page is written, and one of each thing that can happen in a part.

    Example: labapp studies preview quickstart --out screens

    --participant: The participant whose plan is shown. Default: the first.
    --condition: The condition. Default: the first.
    --order (from 1): Use the order of the participant with this number.
    --language: The language, such as de. Default: the study's.
    --out: The folder for a picture of each screen, and a contact sheet.
    """
    from labapp.study.allocation import rule_of
    from labapp.study.loading import load
    from labapp.ui.qtapp import choose, make_app

    if participant is not None and order is not None:
        raise UsageError(
            "--participant and --order cannot be combined: both choose whose plan is shown.",
            todo="Give one of them.",
        )
    loaded = load(study, language)
    make_app()
    from labapp.ui import preview

    whose = loaded.study.participants.label(order) if order is not None else participant
    if order is not None and (rule := rule_of(loaded.study)) is not None:
        condition = rule.at_order(condition, order)
    display = choose()
    if out is None and not display.visible:
        raise SetupError(
            f"There is no screen to show the preview on ({display.why}).",
            todo="Write the screens to a folder with --out.",
        )
    before: preview.Reopened | None = None
    while True:
        with preview.open_preview(loaded, whose, condition) as opened:
            if (problem := opened.course.problem) is not None:
                say(
                    f"Some of the screens that appear within parts are missing: {problem.what}",
                    err=True,
                )
            if out is not None:
                with progress_bar("drawing screens"):
                    paths = preview.write_pictures(opened, out)
                say(f"{len(paths) - 1} screens and a contact sheet: {paths[-1]}")
                return
            before = preview.run_preview(opened, lambda: load(study, language), before)
        if before is None:
            return
        loaded = before.loaded


@studies_app.command("schema")
def studies_schema(instrument: bool = False) -> None:
    """Print the JSON Schema of study files or questionnaires. For stimulus sets, use labapp
    stimuli schema.

    Example: labapp studies schema > study.json

    --instrument: Print the schema of questionnaires.
    """
    from labapp.study.authoring import schema_of

    say_json(schema_of("instrument" if instrument else "study"))
