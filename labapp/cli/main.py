"""The command line: one thin command per job. Heavy imports happen inside the commands."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, cast, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from labapp import __version__
from labapp.base import access
from labapp.base.console import say
from labapp.base.errors import (
    DONE,
    INTERRUPTED,
    WRONG_USAGE,
    LabappError,
    NotFoundError,
    UsageError,
)
from labapp.base.parallel.processes import stoppable
from labapp.base.resources import pilot_root
from labapp.cli import completion
from labapp.cli.commands import COMMANDS, Commands
from labapp.cli.options import (
    Blind,
    Lsl,
    Strategy,
    data_folder,
    make_exit,
    one_place,
    progress_bar,
    run_options,
    say_either,
    strategy_name,
    study_path,
)

PLAIN: dict[str, Any] = {"add_completion": False, "rich_markup_mode": None}


GROUPS = [name for name, (where, _) in COMMANDS.items() if where.endswith("_app")]
"""Groups of commands. Their sentence lists the commands."""


class _Commands(Mapping[str, Any]):
    """Builds each command only when it is needed, since typer is slow and most runs use one."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            module, _, attribute = COMMANDS[name][0].partition(".")
            command = getattr(import_module(f"labapp.cli.{module}"), attribute)
            around = Commands(**PLAIN)
            around.callback()(lambda: None)
            if isinstance(command, typer.Typer):
                around.add_typer(command, name=name)
            else:
                around.command(name)(command)
            made = self._made[name] = cast(Any, typer.main.get_command(around)).commands[name]
            for inner in getattr(made, "commands", {}).values():
                inner.short_help = " ".join(inner.help.split("\n\n")[0].split())
            for option in _outputs(made):
                option.callback = _outside_sessions(option.callback)
            for option in _inputs(made):
                option.callback = _there(option.callback)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Group(TyperGroup):
    """All commands. The overview has their first sentences from `COMMANDS`."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = _Commands()

    def format_commands(self, context: Any, formatter: Any) -> None:
        self._overview().format_commands(context, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        overview = self._overview()
        return overview.shell_complete(type(ctx)(overview, info_name="labapp"), incomplete)

    def _overview(self) -> TyperGroup:
        """The names and sentences of all commands, none of which is built for it."""
        listed = {
            name: TyperCommand(name, help=sentence, short_help=sentence)
            for name, (_, sentence) in COMMANDS.items()
        }
        return TyperGroup(commands=cast(Any, listed), params=self.params)


app = typer.Typer(
    cls=_Group,
    invoke_without_command=True,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    **PLAIN,
)


def docs(path: bool = False) -> None:
    """Open the documentation in the browser. No network is needed.

    If the pages are not built, a window of labapp shows the documentation.

    Example: labapp docs

    --path: Only print where the pages are.
    """
    import webbrowser

    from labapp.base.documentation import built_page, first_text

    page = built_page()
    if path:
        say(page or first_text())
    elif page is None:
        from labapp.ui import qtapp

        if not qtapp.choose().visible:
            say(f"There is no display here. The documentation begins with {first_text()}")
            return
        from labapp.ui.documentation import run_documentation

        raise typer.Exit(run_documentation())
    elif not webbrowser.open(page.as_uri()):
        say(f"No browser was found here. The pages are at {page}")


@app.callback()
def labapp(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
    data: Annotated[
        Path | None, typer.Option("--data", help="The data folder of the moderator window.")
    ] = None,
    private: Annotated[
        Path | None,
        typer.Option(
            "--private", help="The folder in which that window stores names and signatures."
        ),
    ] = None,
) -> None:
    """Think-aloud lab studies of how well people understand machine-learning models.

    Without a command, the moderator window opens.

    Example: labapp
    """
    if version:
        say(f"labapp {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is not None and (data or private):
        name = context.invoked_subcommand
        group: Any = context.command
        taken = _options_of(group.get_command(context, name))
        given = ["--data"] * (data is not None) + ["--private"] * (private is not None)
        behind = [option for option in given if option in taken]
        raise UsageError(
            "Put --data and --private after a command that has these options.",
            todo=f"For example: labapp {name} … {behind[0]} DIR"
            if behind
            else f"Leave {' and '.join(given)} out: labapp {name} does not have this option "
            f"(labapp {name} --help).",
        )
    if context.invoked_subcommand is None:
        from labapp.ui.starting import open_home

        raise typer.Exit(open_home(data, private))


def _options_of(command: Any) -> set[str]:
    """The options of a command, or of any command of a group."""
    inner = getattr(command, "commands", {}).values()
    own = {option for parameter in command.params for option in parameter.opts}
    return own.union(*map(_options_of, inner))


def demo(out: Path | None = None, seed: int = 0) -> None:
    """Run a whole session with a simulated participant, then export, verify and analyse it.

    Example: labapp demo --out demo

    --out: The folder to write. It must not exist yet.
    --seed: The seed. Another seed gives another session.
    """
    from labapp.ui.starting import run_demo

    with progress_bar("a session with a simulated participant"):
        status = run_demo(out, seed, say)
    raise typer.Exit(status)


def doctor(json_: bool = False) -> None:
    """Check display, sound, speech models, video, processor, disk and fonts, and say what to do
    about problems.

    Example: labapp doctor
    """
    from labapp.ui.doctor import examine

    checks = examine()
    say_either(json_, [check.to_json() for check in checks], (c.line() for c in checks), say)
    raise make_exit(well=all(check.ok for check in checks))


def run(
    study: completion.Study,
    participant: completion.Participant | None = None,
    session: str | None = None,
    data: Path | None = None,
    private: Path | None = None,
    screen: str | None = None,
    windowed: bool = False,
    audio: str | None = None,
    simulate: str | None = None,
    seed: int | None = None,
    speed: float = 1.0,
    blind: Blind = None,
    lsl: Lsl = None,
    listen: str | None = None,
    careless: bool = False,
    pilot: bool = False,
    language: str | None = None,
) -> None:
    """Run a session without the home screen: open the console and the participant's window.

    Example: labapp run quickstart --participant P01

    --participant: The participant's id, such as P01. Default for pilots: the next free id.
    --session: The session's label. Default: the study's first.
    --careless: Let the simulated participant answer without trying.
    --pilot: Make a trial run. It is stored separately and never analysed with other sessions.
    --language CODE: The participant's language, if the study has several. Default: the first.
    """
    from labapp.ui.starting import run_session

    if participant is None and not pilot:
        raise UsageError(
            "The participant is missing (--participant).",
            safe="No session was begun.",
            todo="Give one, such as --participant P01, or try the study out with --pilot.",
        )
    options = run_options(
        data,
        private,
        screen,
        windowed,
        audio,
        simulate,
        speed,
        blind,
        seed=seed,
        careless=careless,
        pilot=pilot,
        lsl=lsl,
        listen=listen,
        language=language,
    )
    if pilot:
        say(f"This is a pilot. Its data are kept separately, in {pilot_root(data_folder(data))}.")
    raise typer.Exit(run_session(study, participant or "", session, options))


def export(
    sessions: list[completion.Session],
    out: Path,
    format_: str = "bids",
    zip_: bool = False,
    deidentify: bool = False,
    with_audio: bool = False,
    no_audio: bool = False,
    sound: str = "wav",
    withdrawn: bool = False,
    data: Path | None = None,
    private: Path | None = None,
) -> None:
    """Export sessions as one bundle: a BIDS dataset, or another format.

    Without options, you get a full copy for your own lab. It identifies people through their
    voices and what they wrote. For a copy to share, use --deidentify.

    Example: labapp export sub-P01_ses-1_20260102T030405Z --out bundle

    sessions: Studies (id or folder), sessions (name or folder) or bundles.
    --format NAME: bids, psychds, or a format of an installed package (see labapp plugins list).
    --zip: Write one .zip file instead of a folder.
    --deidentify: Leave out what identifies people: no free text, no sound, shifted dates.
    --with-audio: With --deidentify: include the voices.
    --no-audio: Leave out the sound.
    --sound FORMAT: The format of sound: wav, or flac (lossless, half the size).
    """
    from labapp.session.bids.export import export as write_bundle

    if with_audio and (no_audio or not deidentify):
        raise UsageError(
            "--with-audio needs --deidentify, and cannot be combined with --no-audio.",
            safe="No bundle was made.",
            todo="Without --deidentify the sound is in the bundle anyway.",
        )
    if with_audio:
        say(
            "Warning: the voices in this bundle identify the people who speak, and what they say "
            "may, too.",
            err=True,
        )
    with progress_bar() as tell:
        path = write_bundle(
            [study_path(name, data, sessions=True) for name in sessions],
            out,
            zip=zip_,
            deidentify=deidentify,
            audio=False if no_audio else True if with_audio else None,
            withdrawn=withdrawn,
            private=private,
            format=format_,
            sound=sound,
            progress=lambda done, of, name: tell(done / of, name or "writing the bundle"),
        )
    say(f"bundle: {path}")
    if not deidentify:
        say("It identifies people. Use --deidentify for a copy that others may see.", err=True)


def analyze(
    paths: list[completion.Session],
    out: Path,
    withdrawn: bool = False,
    pilot: bool = False,
    only: list[str] | None = None,
    without: list[str] | None = None,
    ratings: list[Path] | None = None,
    registration: list[Path] | None = None,
    figure_width: str | None = None,
    figure_font: str | None = None,
    figure_size: str | None = None,
    palette: str | None = None,
    language: str | None = None,
    words: Path | None = None,
    format_: list[str] | None = None,
    data: Path | None = None,
    workers: int | None = None,
    dask: str | None = None,
) -> None:
    """Write tables, figures and report.html from sessions or bundles.

    Example: labapp analyze bundle --out results

    Example: labapp analyze bundle --out results --format xlsx --format sav

    paths: Studies (id or folder), sessions, bundles, or folders that contain them.
    --pilot: Analyse only pilots. By default, pilots are left out.
    --only WORD: Analyse only sessions with this tag or phase (`none`: without a phase), or
        `simulated` ones. Can be repeated, for sessions with any of them.
    --without WORD: Leave out sessions with this tag or phase, or `simulated` ones. Can be repeated.
    --ratings FILE.csv: A labels_to_rate.csv of an earlier analysis that a rater has filled in.
        Repeat the option for each rater.
    --registration PATH: The folder that `labapp plan --preregister` wrote. The report lists all
        differences from it. Can be repeated.
    --figure-width LENGTH: The width of every figure in in, cm, mm or pt, such as 3.33in.
    --figure-font NAME: The font of the figures. It must be installed.
    --figure-size LENGTH: The size of text in figures, such as 8pt. Default: depends on the width.
    --palette NAME: The colours of the figures: labapp, okabe-ito or greys.
    --language CODE: The language of the report. Default: the study's.
    --words FILE: A file with translations of the report's sentences, for languages other than
        English and German. Missing sentences are listed in the folder for you to fill in.
    --format xlsx|sav|dta: Also write one file with all numbers and labels for Excel (xlsx), SPSS
        (sav) or Stata (dta). Can be repeated.
    """
    from labapp.analysis.analyze import MISSING
    from labapp.analysis.analyze import analyze as write_analysis
    from labapp.analysis.data_files import FORMATS
    from labapp.base.report.page import look_of

    one_place(workers, dask)
    for each in format_ or ():
        if each not in FORMATS:
            known = ", ".join(f"{ending} ({program})" for ending, program in FORMATS.items())
            raise UsageError(f"There is no format {each!r}.", todo=f"Use one of: {known}.")
    look = look_of(figure_width, figure_font, figure_size, palette)
    with stoppable(), progress_bar() as progress:
        report = write_analysis(
            [study_path(name, data, sessions=True) for name in paths],
            out,
            progress,
            withdrawn=withdrawn,
            pilot=pilot,
            only=only or (),
            without=without or (),
            ratings=ratings or (),
            registrations=registration or (),
            workers=workers,
            dask=dask,
            look=look,
            language=language,
            words=words,
            formats=format_ or (),
        )
    say(f"report: {report}")
    if words is not None:
        say(f"sentences without words: {out / MISSING}")


def simulate_(
    study: completion.Study,
    out: Path,
    strategy: Strategy = None,
    mixture: str | None = None,
    participants: int | None = None,
    careless: float = 0.0,
    think_aloud: bool = False,
    language: str | None = None,
    seed: int | None = None,
    workers: int | None = None,
    dask: str | None = None,
    json_: bool = False,
) -> None:
    """Simulate participants on a virtual clock, without windows.

    Example: labapp simulate quickstart --participants 12 --strategy understanding --out simulated

    --mixture NAME=SHARE,…: The shares of the strategies, with --strategy mixture.
    --participants (from 1): The number of participants. Default: until the study is full.
    --careless (0 to 1): The share of participants who answer without trying.
    --think-aloud: Let participants think aloud. Their words are recorded with the codes that they
        represent.
    --language CODE: The language of all participants, if the study has several. Default: all
        languages in turn.
    """
    from labapp.session.condition_assignment import coverage
    from labapp.session.overview import describe_coverage
    from labapp.session.simulation.at_scale import simulate_at_scale
    from labapp.session.simulation.fitting import usual_strategy
    from labapp.session.simulation.simulation_job import check_job

    one_place(workers, dask)
    name = strategy_name(strategy, mixture)
    loaded = check_job(study, participants, name, out)
    name = name or usual_strategy(loaded.study)
    with stoppable(), progress_bar() as progress:
        done = 0

        def report(text: str) -> None:
            progress(None if participants is None else done / participants, text)

        def report_session(label: str) -> None:
            nonlocal done
            done += 1
            report(f"simulated {label}")

        report("simulating" if dask is None else f"asking the Dask cluster at {dask}")
        folders = simulate_at_scale(
            study,
            participants,
            name,
            out,
            seed,
            report_session,
            careless=careless,
            thinks_aloud=think_aloud,
            number=workers,
            dask=dask,
            language=language,
        )
    if think_aloud and folders:
        from labapp.coding.annotations.simulated import leave_codebooks
        from labapp.session.simulation.fitting import codebooks_of_tasks

        leave_codebooks(folders[0].parent, codebooks_of_tasks(loaded.study))
    covered = coverage(out, loaded)
    if covered is not None:
        for line in describe_coverage(covered, loaded.study):
            say(line, err=True)
        if done != participants:
            left = 0 if participants is None else participants - done
            over = f": {left} of {participants} did not run" if left else ""
            say(f"The study is full after {done} participants{over}.", err=True)
    say_either(json_, [{"id": path.name, "path": path} for path in folders], folders, say)


OUTPUTS = {"--out", "--still", "--preregister"}
"""Options that name a place to write to."""
UNCHECKED = {*OUTPUTS, "--data", "--private", "--model", "--to"}
"""Options that name a place which need not be there yet, or of which the command says more."""
# Not click's: newer versions of typer bring a click of their own.
_UsageMistake: Any = typer.BadParameter.__mro__[1]
_STOPPED = {
    name.removeprefix("labapp"): (safe, todo)
    for names, safe, todo in re.findall(
        r"(?m)^((?:\S.*\n)+) {4}(.+)\n {4}(.+)$",
        """
labapp:
    Everything that sessions had recorded is stored.
    Start labapp again: it offers to resume an interrupted session.
plan:
    No plan was written. What was simulated is kept, except with --keep.
    Run the same command again: it continues from there.
extras add:
    What was installed before is unchanged.
    Run the same command again.
extras download:
    Wheels that were downloaded are in the folder.
    Run the same command again.
transcribe:
    What was transcribed so far is stored.
    Run the same command again: it continues from there.
demo:
    What it had made so far is still in its folder. Your own sessions were not touched.
    Delete that folder, and run the same command again.
run:
    Everything that was recorded is stored.
    Continue it with `labapp sessions resume`.
moderate:
    The session continues on its own computer, and everything that reached it is stored there.
    Ask for a new code and join again.
observe:
    The session continues on its own computer, and everything that reached it is stored there.
    Ask for the code and join again.
export:
    No bundle was finished. The sessions were not changed.
    Run the same command again.
analyze:
    No report was finished. The sessions were not changed.
    Run the same command again.
simulate:
    Sessions that were finished are kept; nothing was overwritten.
    Run the command again with another folder, or delete this one first.
sessions resume:
    What the session had recorded is stored.
    Run the same command again: it continues from there.
sessions backup:
    The sessions are untouched, and earlier copies are complete.
    Run the same command again: it continues with the session at which it stopped.
sessions withdraw:
    What was deleted is gone. The rest of the session may still exist.
    Run the same command again until it says that it is done.
sessions move:
    The session is complete, either in its old place or in the new one.
    Run the same command again: it completes the move.
code redact:
    The stretch may be silent already while some of its words are still in the files.
    Run the same command again with the same times: it continues from there.
code open:
    All codes are stored.
    Run the same command again: the session opens where you left it.
sessions recover, sessions exclude, sessions include, sessions tag, code segment, code speakers,
code assign, code done, code lock, code adjudicate, participants merge, code receive, code import,
videos align, videos remove, models title, models remove:
    Every change made so far is stored completely. The others were not made.
    Run the same command again: finished parts are kept.
models train, concepts train:
    The last checkpoint is kept.
    Run the same command again: it continues from there.
deposit, metrics, replay, studies new, studies consent, studies preview, sessions consent, code
pack, code export, code codebook, code agree, code quotes, code reel, videos add, models show,
models import, models import-tfjs, models evaluate, concepts score, concepts stimuli, concepts
import, stimuli import, stimuli build, stimuli explain, stimuli sheet, stimuli masks:
    Existing files were not changed. New files may be unfinished.
    Delete the unfinished files, and run the same command again.
docs, completion, doctor, studies list, studies show, studies check, studies diff, studies texts,
studies instruments, studies schema, sessions list, sessions show, sessions verify, code check, code
schema, code diff, code history, code verify, code status, videos list, models list, models bench,
concepts list, concepts show, concepts intervene, stimuli list, stimuli check, stimuli schema,
plugins list, extras list:
    Nothing was changed: this command only reads.
    Run the same command again.
""",
    )
    for name in " ".join(names.split()).rstrip(":").split(", ")
}
"""By command: what is safe when it is stopped with Ctrl+C, and how to go on."""


def _describe_interruption(words: Sequence[str]) -> str:
    """What to say about a command that was stopped; words: those of the command line."""
    if not words or words[0].startswith("-"):
        words = ("",)
    named = [" ".join(words[:length]) for length in (2, 1)]
    safe, todo = next((_STOPPED[name] for name in named if name in _STOPPED), _STOPPED["metrics"])
    return f"Interrupted.\n{safe}\n{todo}"


@cache
def command_tree() -> Any:
    """All commands as click knows them. No command writes into a session's folder, whatever it
    writes."""
    return typer.main.get_command(app)


def _outputs(command: Any) -> Iterator[Any]:
    """The options of all commands that name a place to write to."""
    for name in (commands := getattr(command, "commands", {})):
        yield from _outputs(commands[name])
    yield from (option for option in command.params if OUTPUTS & {*option.opts})


def _outside_sessions(callback: Callable[..., Any] | None) -> Callable[..., Any]:
    def check(context: Any, option: Any, value: Any) -> Any:
        if value is not None and not context.resilient_parsing:
            from labapp.record.journal.layout import refuse_inside

            refuse_inside(Path(value))
        return value if callback is None else callback(context, option, value)

    return check


def _inputs(command: Any) -> Iterator[Any]:
    """The arguments and options of all commands that name a file or folder to read."""
    for name in (commands := getattr(command, "commands", {})):
        yield from _inputs(commands[name])
    if command.callback is not None:
        types = get_type_hints(command.callback)
        for option in command.params:
            if "Path" in str(types.get(option.name)) and not UNCHECKED & {*option.opts}:
                yield option


def _there(callback: Callable[..., Any] | None) -> Callable[..., Any]:
    def check(context: Any, option: Any, value: Any) -> Any:
        given = value if isinstance(value, list | tuple) else [value]
        for path in [] if context.resilient_parsing else given:
            if path is None:
                continue
            try:
                Path(path).expanduser().stat()
            except (FileNotFoundError, NotADirectoryError) as error:
                raise NotFoundError(f"There is no file {path}.", todo="Check the path.") from error
            except OSError:
                pass  # there, and the command says what it makes of it
        return value if callback is None else callback(context, option, value)

    return check


def main() -> None:
    """The entry point: expected failures become messages, never tracebacks."""
    try:
        access.restrict()
        completion.prepare()
        status = command_tree()(prog_name="labapp", standalone_mode=False)
        if status == INTERRUPTED:  # newer versions of typer do not let Ctrl+C through
            raise KeyboardInterrupt
    except LabappError as error:
        say(str(error), err=True)
        status = error.exit_status
    except _UsageMistake as error:
        usage = io.StringIO()
        error.show(usage)
        say(usage.getvalue().rstrip(), err=True)
        status = WRONG_USAGE
    except (KeyboardInterrupt, typer.Abort):
        say(_describe_interruption(sys.argv[1:]), err=True)
        status = INTERRUPTED
    except BrokenPipeError:
        # The reader of our output is gone (`labapp … | head`); there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = DONE
    except Exception as error:  # noqa: BLE001  (the last net: a person gets words in any case)
        from labapp.base.mistakes import explain_unexpected

        say(mistake := explain_unexpected(error), err=True)
        status = mistake.exit_status
    access.remove_unused()
    sys.exit(status if isinstance(status, int) else DONE)
