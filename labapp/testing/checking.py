"""`check_task`: what a task must hold. Each fault is a sentence that says what to mend."""

from __future__ import annotations

import math
import sys
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from labapp.base.errors import LabappError
from labapp.models.representations.decoding import Decoder
from labapp.record.events import Payload, Source
from labapp.record.events import registry as kinds
from labapp.record.events.commands import (
    AskToLeave,
    Back,
    Command,
    ConfirmSkip,
    HandIn,
    Next,
    Pause,
    Resume,
    Skip,
    SkipStage,
    StayHere,
    TakeBackSkip,
    Tick,
)
from labapp.record.events.lifecycle import SessionPlanned
from labapp.session.gate import predict_masked as predict_by_models
from labapp.session.stimuli import stimuli_of as installed_stimuli
from labapp.study import loading, plan, planner
from labapp.study.allocation import variants
from labapp.study.inclusion import Achieved
from labapp.study.loading import LoadedStudy
from labapp.study.plugins import registry
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.registry import TaskType
from labapp.study.stimulus_stages import PredictMasked, StimuliOf
from labapp.testing.rehearsal import Change, Fault, Notes, Rehearsal, watch_calls

EXAMPLES = 20
OF_TRIALS = ("number", "task", "model", "trials", "time_limit_s", "think_aloud")
"""What every part with trials says, each by a field or a property."""


class Unfit(AssertionError):
    """A task does not hold what labapp asks of it; `sentences` say what to mend."""

    def __init__(self, name: str, sentences: tuple[str, ...]) -> None:
        listed = "\n".join(f"* {sentence}" for sentence in sentences)
        super().__init__(f"The task {name!r} needs corrections:\n{listed}")
        self.sentences = sentences


def check_task(
    task_type: TaskType[Any],
    study: str | Path,
    *,
    examples: int = EXAMPLES,
    strategy: str = "random",
    decoders: Mapping[str, Decoder] | None = None,
    stimuli_of: StimuliOf = installed_stimuli,
    predict_masked: PredictMasked = predict_by_models,
) -> None:
    """Check a task by going through a study with it.

    It must come to its end under random commands, pauses, crashes and restarts; a replay must give
    the state that the session had; simulated participants must finish; what they answer must be in
    a table and in the task's own report, in columns that are described; times leave pauses out; one
    seed gives one plan; the bundle of a session must be whole. What a simulated participant does
    must be possible by keys in the real window, and be seen; its screens must draw every state that
    comes up at four sizes, and do nothing to the session where nobody, or only a reader, is.

    Parameters
    ----------
    task_type : as its entry point gives it; its package must be installed.
    study : id or file of a study with the task in it, as short as it can be: it is gone through
        some twenty times.
    examples : random courses of commands, pauses and crashes.
    strategy : of the simulated participants (`labapp.session.simulation.names`).
    decoders : by model id, in place of the installed models.
    stimuli_of, predict_masked
        See `labapp.study.planner.realise`.

    Raises
    ------
    Unfit : with a sentence for every fault that was found.
    """
    sentences = problems_of(
        task_type,
        study,
        examples=examples,
        strategy=strategy,
        decoders=decoders,
        stimuli_of=stimuli_of,
        predict_masked=predict_masked,
    )
    if sentences:
        raise Unfit(str(getattr(task_type, "name", task_type)), sentences)


def problems_of(
    task_type: TaskType[Any],
    study: str | Path,
    *,
    examples: int = EXAMPLES,
    strategy: str = "random",
    decoders: Mapping[str, Decoder] | None = None,
    stimuli_of: StimuliOf = installed_stimuli,
    predict_masked: PredictMasked = predict_by_models,
) -> tuple[str, ...]:
    """The sentences of `check_task`; none if the task is in order."""
    notes = Notes()
    for sentence in check_description(task_type):
        notes.add(sentence)
    if notes.sentences:
        return tuple(notes.sentences)
    models = Models(dict(decoders or {}))
    try:
        _run(task_type, study, examples, strategy, models, stimuli_of, predict_masked, notes)
    except Exception as error:  # noqa: BLE001 (whatever a task does)
        notes.add(_describe_error(error))
    return tuple(notes.sentences)


def _run(
    task_type: TaskType[Any],
    study: str | Path,
    examples: int,
    strategy: str,
    models: Models,
    stimuli_of: StimuliOf,
    predict_masked: PredictMasked,
    notes: Notes,
) -> None:
    from labapp.testing.answers import (
        check_answers,  # pandas, which importing the kit leaves alone
        check_columns,
        check_texts,
    )
    from labapp.testing.rehearsal import check_interruptions
    from labapp.testing.screens import check_screens

    loaded = loading.load(study)
    plans = list(_make_plans(loaded, models, stimuli_of, predict_masked))
    rows = _rows(plans)
    with watch_calls() as did:
        again = [_rows(_make_plans(loaded, models, stimuli_of, predict_masked))]
    # A plan of few choices is often the same by chance.
    again += [_rows(_make_plans(loaded, models, stimuli_of, predict_masked)) for _ in range(3)]
    if did.clock or any(other != rows for other in again):
        clock = f" ({did.clock})" if did.clock else ""
        raise Fault(
            f"The same participant is given another plan at another time{clock}: let `plan` draw "
            "by `generator` or `shuffled` of labapp.study.conditions with `planner.seed` and "
            "`planner.participant`, and with nothing else."
        )
    parts = [part for planned in plans for part in plan.parts_of(planned)]
    if not any(registry.task_type_of(part) is task_type for part in parts):
        raise Fault(
            f"The study {loaded.path} has no part of the task: let `plan` give parts of the "
            "classes in `parts`, and name the task in the study."
        )
    used = {name: models[name] for part in parts for name in part.models()}

    def rehearsal(planned: SessionPlanned) -> Rehearsal:
        return Rehearsal(task_type, loaded, planned, used, notes, strategy)

    def rehearse(change: Change) -> Rehearsal | None:
        session = Rehearsal(task_type, loaded, plans[0], used, Notes(), strategy, change)
        try:
            session.go_on(lambda: session.runner.finished)
        except Exception:  # noqa: BLE001 (nobody answers so: the courses before looked for faults)
            return None
        return session

    first = rehearsal(plans[0])
    first.go_on(lambda: first.runner.finished)
    first.replays()
    for name in dict.fromkeys(event.kind for event in first.events):
        payload = kinds.find_kind(name)
        if payload is not None and not _is_documented(payload):
            notes.add(_NO_DOCSTRING.format(name))
    check_columns(task_type, notes)
    check_texts(task_type, _own_kinds(task_type), first.events, notes)
    if notes.sentences:
        return
    _random_courses(task_type, plans, rehearsal, first, examples)
    first.replays()
    if notes.sentences:
        return
    own = commands_of(_package(task_type))
    check_answers(task_type, own, first, rehearse, notes)
    check_interruptions(task_type, lambda: rehearsal(plans[0]), notes)
    if notes.sentences:
        return
    check_screens(
        task_type,
        loaded,
        plans[0].participant,
        used,
        strategy,
        own,
        notes,
        stimuli_of=stimuli_of,
        predict_masked=predict_masked,
    )


def _random_courses(
    task_type: TaskType[Any],
    plans: list[SessionPlanned],
    rehearsal: Any,
    first: Rehearsal,
    examples: int,
) -> None:
    """Random courses through the task's parts, each of which must get to the end of the plan."""
    own = commands_of(_package(task_type))

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(plans), courses(own, first.heard))
    def go_through(planned: SessionPlanned, course: list[Step]) -> None:
        session: Rehearsal = rehearsal(planned)
        session.go_on(lambda: session.in_task or session.runner.finished)
        for wait_s, step in course:
            session.wait(wait_s)
            session.take(step)
        session.back_to_work()
        session.go_on(lambda: session.runner.finished)
        session.replays()

    go_through()


def check_description(task_type: Any) -> Iterator[str]:
    """What is wrong with the task's description of itself."""
    if not isinstance(task_type, TaskType):
        yield (
            f"The entry point names {type(task_type).__name__}: let it name an instance of a class "
            "that derives from labapp.study.plugins.registry.TaskType."
        )
        return
    others = [known for known in registry.task_types() if known is not task_type]
    if len(others) == len(registry.task_types()):
        states = {plugin.name: state for plugin, state in registry.TASKS.installed}
        why = states.get(task_type.name, "no entry point of the group `labapp.tasks` names it")
        yield f"labapp does not know the task: {why}."
        return
    taken = {kind for known in others for part in known.parts for kind in registry.kinds_of(part)}
    for cls in (*task_type.parts, *task_type.items, *task_type.stages):
        if not _is_documented(cls):
            yield f"{cls.__name__} has no docstring: say what it is; the codebook shows it."
    for part in task_type.parts:
        if not registry.kinds_of(part):
            yield f"{part.__name__} has no kind: give its field `part` a Literal of its own."
        for kind in registry.kinds_of(part):
            if kind in taken:
                yield f"Parts of the kind {kind!r} are there already: take another name."
        if part.has_trials:
            for name in OF_TRIALS:
                if name not in part.model_fields and not hasattr(part, name):
                    yield (
                        f"{part.__name__} does not say its `{name}`: give it a field or a property "
                        "of that name, see labapp.study.plugins.part.TrialsPart."
                    )
            if not task_type.shown:
                yield (
                    f"{part.__name__} has trials, and the task does not say with which events they "
                    "come onto the screen: name their kinds in `shown`."
                )
    yield from _find_misnamed(task_type)
    for name, body in _own_kinds(task_type).items():
        if not _is_documented(body):
            yield _NO_DOCSTRING.format(name)


_NO_DOCSTRING = "The event {} has no docstring: say what happened and what each field is."
"""The codebook could not describe it."""


def _find_misnamed(task_type: TaskType[Any]) -> Iterator[str]:
    """What the task names that is not there, and that nobody would ask for."""
    events = kinds.registered_kinds().keys()
    known = {
        "shown": (events, task_type.shown, "kind of event"),
        "scored": (events, task_type.scored, "kind of event"),
        "told_elsewhere": (events, task_type.told_elsewhere, "kind of event"),
        "instructs": (registry.part_kinds(), task_type.instructs, "kind of part"),
        "achieves": (Achieved._fields, task_type.achieves, "field of Achieved"),
    }
    for where, (there, named, what) in known.items():
        for name in named:
            if name not in there:
                yield f"`{where}` names {name!r}, and there is no such {what}: correct the name."


def _own_kinds(task_type: TaskType[Any]) -> dict[str, type[Payload]]:
    package = _package(task_type)
    return {
        name: body
        for name, body in kinds.registered_kinds().items()
        if _within(body.__module__, package)
    }


def _make_plans(
    loaded: LoadedStudy, models: Models, stimuli_of: StimuliOf, predict_masked: PredictMasked
) -> Iterator[SessionPlanned]:
    """The plan of a participant of every condition, through JSON and back as a journal keeps it."""
    for number, drawn in variants(loaded.study):
        made = planner.realise(
            loaded,
            loaded.study.participants.label(number),
            space_of=lambda model: models[model].space,
            prior_of=lambda model: models[model].from_prior,
            stimuli_of=stimuli_of,
            predict_masked=predict_masked,
            drawn=drawn,
        )
        rows = plan.to_rows(made.parts)
        for part, row in zip(made.parts, rows, strict=True):
            _check_read_again(part, row)
        study = loaded.study
        yield SessionPlanned(
            study.id,
            study.version,
            loaded.sha256,
            made.participant,
            made.session,
            made.seed,
            made.assignment,
            study.presentation,
            study.language,
            "off",
            rows,
            {},
            study.declared,
        )


def _rows(plans: Iterable[SessionPlanned]) -> list[Any]:
    return [plan.to_rows(plan.parts_of(made)) for made in plans]


def _check_read_again(part: PlannedPart, row: dict[str, Any]) -> None:
    try:
        same = registry.part_class(part.part).model_validate(row) == part
    except ValidationError as error:
        raise Fault(
            f"The part {part.id!r} ({part.part}) cannot be read back from a journal: "
            f"{error.errors()[0]['msg']}. Give its fields types that JSON has."
        ) from error
    if not same:
        raise Fault(
            f"The part {part.id!r} ({part.part}) is another one when it is read back from a "
            "journal: give its fields types that JSON has, tuples in place of lists."
        )


class Models(dict[str, Decoder]):
    """Decoders by model id; those that are not given are the installed ones."""

    def __missing__(self, model: str) -> Decoder:
        from labapp.models.representations.package import load_package

        self[model] = load_package(model, device="cpu", threads=1)
        return self[model]


def _package(task_type: TaskType[Any]) -> str:
    """The package, or the module, that a task is defined in."""
    module = type(task_type).__module__
    return module.rpartition(".")[0] or module


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _is_documented(cls: type) -> bool:
    """Whether a class has a docstring of its own; dataclasses make one of their fields."""
    text = cls.__dict__.get("__doc__") or ""
    return bool(text.strip()) and not text.startswith(f"{cls.__name__}(")


def _describe_error(error: BaseException) -> str:
    """What ended the check, and where a mistake in a task is."""
    if isinstance(error, BaseExceptionGroup):
        why = " ".join(map(_describe_error, error.exceptions))
        return (
            f"{why} The same course went well when it was gone through again: nothing may hang on "
            "what was before, or on the time of day."
        )
    if isinstance(error, Fault):
        return str(error)
    if isinstance(error, LabappError):
        return f"{error.what} {error.todo or ''}".strip()
    last = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno}, in "
        f"`{last.name}`): answer what cannot be done now with no events, and draw every state."
    )


Step = tuple[float, Command | str]
"""Seconds of session time, and what comes then: a command, a `crash`, a `pause` that ends, an
attempt to `leave` that is given up, or a `stall`: the computer stands still."""
Heard = Sequence[tuple[str, Command, Source]]

ANY_TIME = st.one_of(
    st.builds(Next),
    st.builds(Back),
    st.builds(Skip),
    st.builds(HandIn),
    st.builds(Tick),
    st.builds(Pause, st.just("random")),
    st.builds(Resume, st.just("random")),
    st.builds(AskToLeave, st.just("escape")),
    st.builds(StayHere),
    st.builds(SkipStage),
    st.builds(TakeBackSkip, st.sampled_from(["trial", "part"])),
    st.builds(ConfirmSkip),
)
"""What can come in every part."""


def courses(own: Collection[type[Command]], heard: Heard) -> st.SearchStrategy[list[Step]]:
    """Courses for a task. own: its classes of commands; heard: what a simulated participant sent,
    which is sent again in any order. What only the runner sends (that pictures are there) is not
    made up."""
    sent = [command for _, command, source in heard if source is not Source.SYSTEM]
    by_runner = {type(command) for _, command, source in heard if source is Source.SYSTEM}
    by_hand = {type(command) for command in sent} | (set(own) - by_runner)
    given = (
        getattr(command, name)
        for command in sent
        for name in getattr(command, "__dataclass_fields__", {})
    )
    texts = sorted({value for value in given if isinstance(value, str)} | {"mouse", ""})
    in_order = sorted(by_hand & set(own), key=lambda cls: cls.__qualname__)
    made = [built for cls in in_order if (built := _build_strategy(cls, texts)) is not None]
    again = [st.sampled_from(sent)] if sent else []
    # Most of what is asked for is the task's own; a pause or a question about leaving that nobody
    # ends would hide the rest of the course.
    often = [*made, *again] or [ANY_TIME]
    step = st.one_of(*often * 3, ANY_TIME, st.sampled_from(["crash", "pause", "leave", "stall"]))
    waits = st.sampled_from([0.0, 0.0, 0.05, 0.3, 1.0, 3.0])
    return st.lists(st.tuples(waits, step), min_size=12, max_size=40)


def commands_of(package: str) -> set[type[Command]]:
    return {
        cls
        for cls in _subclasses(Command)
        if _within(cls.__module__, package)
        and getattr(sys.modules.get(cls.__module__), cls.__name__, None) is cls
    }


def _subclasses(cls: type[Command]) -> set[type[Command]]:
    return {cls}.union(*(_subclasses(sub) for sub in cls.__subclasses__()))


def _build_strategy(cls: type[Command], texts: Sequence[str]) -> st.SearchStrategy[Command] | None:
    """Commands of a class with any values; None if a field has a type of its own."""
    hints = get_type_hints(cls)
    names = getattr(cls, "__dataclass_fields__", {})
    values = {name: _values(hints[name], texts) for name in names}
    return None if None in values.values() else st.builds(cls, **values)  # type: ignore[arg-type]


def _values(hint: Any, texts: Sequence[str]) -> st.SearchStrategy[Any] | None:
    """Values of a type, impossible ones among them."""
    origin, arguments = get_origin(hint), get_args(hint)
    plain: dict[Any, st.SearchStrategy[Any]] = {
        int: st.one_of(st.integers(-1, 2), st.integers(-2, 12)),
        float: st.one_of(
            st.floats(-3, 3), st.sampled_from([math.nan, math.inf]), st.integers(-2, 6).map(float)
        ),
        bool: st.booleans(),
        str: st.one_of(st.sampled_from(texts), st.text(max_size=10)),
        NoneType: st.none(),
    }
    if hint in plain:
        return plain[hint]
    if hint is Any:
        return st.one_of(st.integers(-2, 12), st.text(max_size=10), st.none(), st.booleans())
    if origin in (Union, UnionType):
        inner = [_values(argument, texts) for argument in arguments]
        return None if None in inner else st.one_of(*inner)  # type: ignore[arg-type]
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        each = _values(arguments[0], texts)
        return None if each is None else st.lists(each, max_size=5).map(tuple)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        keys, values = (_values(argument, texts) for argument in arguments)
        if keys is not None and values is not None:
            return st.dictionaries(keys, values, max_size=3)
    return None
