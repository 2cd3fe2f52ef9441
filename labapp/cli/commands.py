"""Commands that describe their arguments and options in the last lines of their docstrings.

A line describes an option or, by the parameter's name, an argument:

    --pause SECONDS (0.05 to 60): The seconds of silence that separate two units.
    file FILE.csv: A table of ratings.

The word behind the name is shown in place of a value, and the brackets hold the least and the
greatest number; `(from 1)` has no greatest. A longer text goes on in indented lines. What several
commands have in common is described once, in `SHARED`. A parameter's type may name what the Tab
key offers for it, such as `completion.Session`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import typer
from typer.models import ParameterInfo


def unfold(text: str) -> str:
    """Lines, where those that are indented continue the one above."""
    return re.sub(r"\n\s+", " ", text.strip())


_OVERVIEW = """
metrics metrics.metrics: Score a model's codes against the true factors or concepts, with one
    metric or all of them.
plan planning.plan: Plan a study by simulation: threshold, time before a skip, sample size and
    session length.
replay sessions.replay: Replay a recorded session: see the participant's screen and hear the voice
    at any time.
transcribe videos.transcribe: Transcribe what was said in sessions, with a speech model on this
    computer.
docs main.docs: Open the documentation in the browser. No network is needed.
completion completion.completion: Print the lines that let the Tab key complete commands, options
    and names in a shell.
demo main.demo: Run a whole session with a simulated participant, then export, verify and analyse
    it.
doctor main.doctor: Check display, sound, speech models, video, processor, disk and fonts, and say
    what to do about problems.
run main.run: Run a session without the home screen: open the console and the participant's window.
moderate joining.moderate: Moderate a session from this computer, with the code that the session's
    console shows.
observe joining.observe: Watch a session from this computer. Your notes reach the moderator.
export main.export: Export sessions as one bundle: a BIDS dataset, or another format.
deposit depositing.deposit: Write a de-identified folder for OSF, Zenodo or an institutional
    repository.
analyze main.analyze: Write tables, figures and report.html from sessions or bundles.
simulate main.simulate_: Simulate participants on a virtual clock, without windows.
studies studies.studies_app: Study files: new, list, show, check, diff, texts, instruments, consent,
    preview, schema.
sessions sessions.sessions_app: Recorded sessions: list, show, verify, recover, exclude, include,
    move, tag, backup, withdraw, consent, resume.
participants participants.participants_app: Participants' answers from other tools: merge.
code coding.code_app: Coding of recorded sessions: open, segment, speakers, check, schema, diff,
    history, verify, status, assign, done, lock, agree, adjudicate, redact, pack, receive, quotes,
    reel, export, import, codebook.
videos videos.videos_app: Videos of participants: add, list, align, remove.
models models.models_app: Models: list, show, title, remove, train, import, import-tfjs, evaluate,
    bench.
concepts concepts.concepts_app: Concept learners: list, show, train, score, intervene, stimuli,
    import.
stimuli stimuli.stimuli_app: Stimulus sets: list, check, import, schema, build, explain, sheet,
    masks.
extras extras.extras_app: Extras of this installation: list, add, download.
plugins plugins.plugins_app: Tasks, metrics and more that are shipped or come with installed
    packages: list.
"""
COMMANDS = {
    name: (where, sentence)
    for name, where, sentence in re.findall(r"(?m)^(\S+) (\S+): (.+)$", unfold(_OVERVIEW))
}
"""Each command's module and function or group, and its first sentence."""
SHARED = """
--json: Print JSON instead of text.
--data: The data folder. Default: $LABAPP_DATA, or if it is not set, `sessions` in the checkout or
    in your user data folder.
session: A session's name or folder.
--private: The private folder with names and signatures.
model: A model's id or folder.
sessions NAME: Sessions (name or folder), or a study.
--codebook ID: The codebook to use, if the study has several.
--seed: The seed to use instead of the study's.
--workers (1 to 1024): The number of processes. Default: one per core.
--dask ADDRESS: The address of a Dask scheduler whose workers do the work, such as
    tcp://127.0.0.1:8786.
--screen: The name of the participant's screen.
--windowed: Do not open the participant's window in full screen.
--audio DEVICE|off: The name of the microphone, or off.
--simulate STRATEGY: Let a simulated participant with this strategy take part.
--speed: The speed of the simulated session: session seconds per real second.
--listen ADDRESS: Let people join from other computers at this address of this computer. The
    console shows the codes for joining.
--withdrawn: Include people who withdrew and let you keep their data.
--at TIME: The session time to start at, such as 12:34.5, or in seconds.
--offset SECONDS: The session time at which the video begins. Default: found from the sound.
--drift PPM: With --offset: how much faster the session's clock runs than the camera's, in parts
    per million.
--torch-export FILE: A file that torch.export.save wrote.
--torchscript FILE: A file that torch.jit.save wrote.
--trust: Open the file even if it cannot be sandboxed. Only for files that you made yourself.
--smallest: The percentage of pixels that the first mask shows.
--largest: The percentage of pixels that the last mask shows.
--count (from 1): The number of masks from the first to the last.
--masks: A list of percentages instead, as in a study: 4,12.5,60.
--fill: What masked pixels become: mean, black, grey or white.
--sign: Rank pixels by signed or absolute scores.
--out: The folder to write. It must not exist yet.
study: A study's id or file.
"""
"""Parameters that mean the same wherever a command does not describe them itself."""
_ITEM = re.compile(
    r"(?P<key>--[\w/-]+|[a-z]\w*)(?: (?P<metavar>[^(].*?))?"
    r"(?: \((?:from )?(?P<min>[\d.]+)(?: to (?P<max>[\d.]+))?\))?: (?P<help>.+)"
)
F = TypeVar("F", bound=Callable[..., Any])


def make_group(name: str, example: str) -> Commands:
    """A group of commands, whose help is its sentence in `COMMANDS` and an example."""
    return Commands(help=f"{COMMANDS[name][1]}\n\nExample: {example}", no_args_is_help=True)


class Commands(typer.Typer):
    """A group of described commands."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[[F], F]:
        register = super().command

        def add(function: F) -> F:
            register(name, help=describe(function), **settings)(function)
            return function

        return add


def describe(function: Callable[..., Any]) -> str:
    """Give a command's parameters what its docstring says of them.

    Returns the docstring without it. Raises TypeError for a parameter that nothing describes, and
    for a description without a parameter.
    """
    text = inspect.getdoc(function) or ""
    head, _, last = text.rpartition("\n\n")
    own = _read_items(last) if _ITEM.match(last) else {}
    plain, marked = get_type_hints(function), get_type_hints(function, include_extras=True)
    for name in inspect.signature(function).parameters:
        item = own.pop(name.strip("_"), None) or _SHARED.get(name.strip("_"))
        kinds = getattr(marked[name], "__metadata__", ())
        if any(isinstance(kind, ParameterInfo) for kind in kinds) or plain[name] is typer.Context:
            continue  # declared by itself, or described before
        if item is None:
            raise TypeError(f"{function.__name__} does not describe {name}")
        completed = next(_find_completions(marked[name]), None)
        function.__annotations__[name] = Annotated[plain[name], _declare(item, completed)]
    if own:
        raise TypeError(f"{function.__name__} has no parameters {', '.join(own)}")
    return head if _ITEM.match(last) else text


def _read_items(text: str) -> dict[str, re.Match[str]]:
    """What lines describe, by the names of parameters."""
    items = {}
    for line in unfold(text).splitlines():
        if (item := _ITEM.fullmatch(line)) is None:
            raise TypeError(f"this describes no parameter: {line}")
        items[item["key"].partition("/")[0].strip("-").replace("-", "_")] = item
    return items


_SHARED = _read_items(SHARED)


def _find_completions(kind: Any) -> Iterator[Callable[..., Any]]:
    """What a type, or one within it, names for the Tab key."""
    yield from getattr(kind, "__metadata__", ())
    for inner in get_args(kind):
        yield from _find_completions(inner)


def _declare(item: re.Match[str], completed: Callable[..., Any] | None) -> Any:
    """A described parameter as typer takes it."""
    ends = {
        end: float(item[end]) if "." in item[end] else int(item[end])
        for end in ("min", "max")
        if item[end]
    }
    settings: dict[str, Any] = {"autocompletion": completed, **ends}
    settings |= {name: item[name] for name in ("metavar", "help")}
    if item["key"].startswith("-"):
        return typer.Option(item["key"], **settings)
    return typer.Argument(**settings)
