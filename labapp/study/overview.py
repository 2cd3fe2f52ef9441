"""Whether a study can be run as it is: `labapp studies check`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from labapp.base.documents import Path_, format_path
from labapp.base.errors import LabappError, ModelError, StimuliError, StudyError
from labapp.models.representations import card as cards
from labapp.models.representations import python_backend
from labapp.models.representations.package import find as find_model
from labapp.models.representations.package import tasks_of, try_graph
from labapp.models.representations.space import LatentSpace
from labapp.models.stimuli import library
from labapp.models.stimuli.importing import read_checked
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import Logits, Photo
from labapp.models.stimuli.masked_pictures import Masking, find_recorded_outputs
from labapp.record import lsl
from labapp.study import checks, loading, media, planner, words
from labapp.study.allocation import sessions_of, variants
from labapp.study.checks import uneven
from labapp.study.conditions import VARIABLE, as_tuple, fill
from labapp.study.design import ExcludeRule
from labapp.study.examining import examine
from labapp.study.flow import items_of, items_of_tasks, walk_items
from labapp.study.instruments.asking import is_withheld, never, own_name
from labapp.study.instruments.items import Item
from labapp.study.loading import LoadedStudy
from labapp.study.measures import Called, Limits, has_unread, items, resolve, scores
from labapp.study.plan import Plan
from labapp.study.plugins import registry
from labapp.study.plugins.texts import names
from labapp.study.schema import Replicates
from labapp.study.stimulus_stages import PredictMasked
from labapp.study.when import holds, is_answer, leaves
from labapp.study.words import set_faults, text_faults

STAND_IN = "sinelines/gt"
"""A shipped model, for one that is not there."""


def space_of(model: str) -> LatentSpace:
    """The latent space on a model's card, without loading the model. Raises ModelError, also if
    what computes the model is not installed, or does not answer: a session could not begin."""
    card = cards.read(find_model(model))
    if card.backend == "onnxruntime":
        try_graph(model)
    elif card.backend == "python":
        python_backend.require(card)
    return card.space


def prior_of(model: str) -> bool:
    """Whether a model's card says that it has a prior and no encodings. Raises ModelError."""
    return cards.read(find_model(model)).sampling == "prior"


def _left_out(loaded: LoadedStudy) -> Iterator[str]:
    """Remarks on items whose answers de-identified copies leave out: those that do not say whether
    they identify, and those that are asked only after certain answers that identify."""
    items = [
        (f"{instrument.id}.{item.id}", instrument.id, item)
        for instrument in loaded.instruments.values()
        for item in instrument.items
    ]
    if named := [name for name, _, item in items if item.identifying is None and item.withheld]:
        yield (
            "De-identified copies leave out the answers to these items, which declare neither "
            f"identifying: yes nor identifying: no: {', '.join(named)}."
        )
    if named := [
        name
        for name, instrument, item in items
        if not item.withheld and is_withheld(loaded.instruments, instrument, item.id)
    ]:
        yield (
            "De-identified copies also leave out the answers to these items, which are asked "
            f"only after certain identifying answers: {', '.join(named)}. The journal of such a "
            "copy still shows that they were answered, and when."
        )


def notices(loaded: LoadedStudy, plans: Sequence[Plan] = ()) -> list[str]:
    """Remarks to the author of a study that is in order. plans: of every condition."""
    return [
        *_left_out(loaded),
        *_unheard(loaded),
        *_in_another_language(loaded),
        *_not_known(loaded),
        *(
            f"line {loaded.located.line(place)}, {format_path(place)}: {what}"
            for place, what in uneven(loaded.study)
        ),
        *_of_stages(loaded),
        *_compare_solving_rules(plans),
        *_not_sent(loaded),
        *_not_asked_again(loaded),
    ]


def _of_stages(loaded: LoadedStudy) -> Iterator[str]:
    """What the stages of the flow have to remark."""
    for place, item in walk_items(loaded.study.flow):
        for key, what in () if (stages := item.task_stages()) is None else stages.remarks():
            at = (*place, item.key, *key)
            yield f"line {loaded.located.line(at)}, {format_path(at)}: {what}"


def _not_asked_again(loaded: LoadedStudy) -> Iterator[str]:
    """Of tasks whose questions cannot be asked again after the computer stood still."""
    if loaded.study.stalls != "repeat-question":
        return
    types = map(registry.task_type_of_item, items_of_tasks(loaded.study.flow))
    for name in sorted({known.name for known in types if known.shown and not known.asks_again}):
        yield (
            f"The task {name} cannot ask a question again (stalls: repeat-question). If the "
            "computer freezes during one of its questions, that time is left out, and the "
            "column stalled_s says how long it was."
        )


def _not_sent(loaded: LoadedStudy) -> list[str]:
    """Of a study that sends its events, on a computer that cannot; at most one line."""
    policy = loaded.study.recording.lsl
    if policy == "off" or (problem := lsl.problem()) is None:
        return []
    follows = "no session begins" if policy == "required" else "its sessions will not send events"
    return [f"On this computer {follows} (recording.lsl: {policy}). {problem.what} {problem.todo}"]


def _in_another_language(loaded: LoadedStudy) -> Iterator[str]:
    """Of what participants read in the fallback language."""
    lacking = words.in_fallback(loaded)
    names = sorted(loaded.fallbacks.keys() | lacking.keys())
    told = (f"{name} ({len(lacking[name])} words)" if name in lacking else name for name in names)
    if names:
        yield (
            f"Participants read {loaded.study.fallback_language} instead of "
            f"{loaded.study.language} in: {', '.join(told)}. `labapp studies texts {loaded.path} "
            "--missing` lists what needs to be translated."
        )


def _unheard(loaded: LoadedStudy) -> Iterator[str]:
    """Of an interview to which nobody agrees."""
    items = list(items_of(loaded.study.flow))
    if any(item.talks for item in items) and not any(item.consents for item in items):
        yield (
            "The study has an interview but no consent form. Make sure that participants sign "
            "a form that mentions the interview and the recording of their voices."
        )


def _nobody_counts(loaded: LoadedStudy, plans: Sequence[Plan]) -> Iterator[StudyError]:
    """More questions to be solved than anybody is asked."""
    needed = loaded.study.inclusion.min_solved
    solvable = max((sum(part.solvable for part in plan.parts) for plan in plans), default=0)
    if needed > solvable:
        what = (
            f"nobody would count: it is {needed}, but the stages have only {solvable} questions "
            "that can be solved"
        )
        yield _fault(loaded, ("inclusion", "min_solved"), what, f"Give at most {solvable}.")


def _models(loaded: LoadedStudy) -> Iterator[StudyError]:
    """Models that are not there, of every condition."""
    looked_up = cache(space_of)
    for item, scope in checks.every_item(loaded.study):
        if (stages := item.task_stages()) is None:
            continue
        for name in stages.compared():
            if set(VARIABLE.findall(name)) - scope.keys():
                continue  # told already
            try:
                looked_up(fill(name, scope))
            except ModelError as error:
                yield loaded.mistake(item, StudyError(error.what, todo=error.todo))


@cache
def _replicates(shipped: str) -> Replicates | None:
    """The published study that a shipped one repeats: no file of the program changes."""
    return loading.load(shipped).study.replicates


def _not_known(loaded: LoadedStudy) -> Iterator[str]:
    """Of a published study of which nothing is known here."""
    if (repeated := loaded.study.replicates) is None:
        return
    shipped = (_replicates(path.stem) for path in loading.list_shipped())
    studies = [f"{of.study} ({of.paper})" for of in shipped if of is not None]
    name = f"{repeated.study} ({repeated.paper})"
    if name not in studies:
        yield (
            f"replicates: labapp does not know {name}, so its published recruitment cannot be "
            f"shown next to yours. Known papers: {', '.join(studies)}."
        )


def _compare_solving_rules(plans: Sequence[Plan]) -> Iterator[str]:
    """Of models whose questions are solved by different rules, though one rate compares them."""
    rules: dict[str, dict[str, None]] = {}
    for part in (part for plan in plans for part in plan.parts if part.measures):
        if part.solved_by:
            rules.setdefault(part.solved_by, {}).update(dict.fromkeys(part.models()))
    told = "; ".join(f"{rule}: {', '.join(models)}" for rule, models in rules.items())
    if len(rules) > 1:
        yield (
            f"Questions are solved by different rules ({told}). A difference between these "
            "models in completion_rate or response time may be due to the rules. To compare "
            "the models, give their stages the same `distance` and `target_alignment`."
        )


def _find_unused_factors(loaded: LoadedStudy) -> Iterator[StudyError]:
    """Factors between that neither the flow nor any text or questionnaire depends on."""
    design = loaded.study.design
    read = {name for sheet in loaded.instruments.values() for name in sheet.variables()}
    read |= {order.by for order in design.orders.values()} if design is not None else set()
    read |= {
        name
        for file, content in loaded.files.items()
        if not media.is_file(file) and not media.is_sound(file)
        for name in names(loading.decode_text(content))
    }
    used = loaded.study.model_dump_json(include={"flow"}, exclude_defaults=True)
    for factor in () if design is None else design.between:
        if design and factor not in (*design.by_moderator, *read) and f'"{factor}":' not in used:
            what = (
                f"nothing in the session depends on {factor}: it is in no `only_if`, and no "
                f"text or model contains {{{factor}}}"
            )
            todo = (
                "Leave it out. Or, if the moderator carries it out, add `by_moderator: "
                f"[{factor}]`."
            )
            yield _fault(loaded, ("design", "between", factor), what, todo)


def _unknown_related(loaded: LoadedStudy) -> Iterator[StudyError]:
    """Related studies that are neither installed nor beside this one, nor in a folder beside its
    folder."""
    if not loaded.study.related:
        return  # the folder beside may hold thousands of others
    folder = loaded.path.absolute().parent
    near = (*loading.list_installed(), *folder.glob("*.yaml"), *folder.parent.glob("*/*.yaml"))
    known = sorted({path.stem for path in near} - {loaded.study.id})
    for index, name in enumerate(loaded.study.related):
        if name not in known:
            meant = difflib.get_close_matches(name, known, 1)
            hint = f" (did you mean {meant[0]!r}?)" if meant else ""
            what = f"there is no study {name!r} here{hint}"
            todo = (
                "Use a study that exists, or put its file next to this one or in a folder next "
                "to its own."
            )
            yield _fault(loaded, ("related", index), what, todo)


def check(
    study: str | Path,
    predict_masked: PredictMasked = find_recorded_outputs,
    plans: list[Plan] | None = None,
) -> LoadedStudy:
    """Load a study and realise plans of every condition, so that a missing model, or a stimulus set
    that does not fit, is found too; what only the analysis knows is for `labapp.session.gate`.

    predict_masked: see `planner.realise`; plans: gets the plans that were realised. Raises
    StudyError with every mistake.
    """
    return in_order(check_all(study, predict_masked), plans)


class Checked(NamedTuple):
    """A study that was looked at as a whole. loaded: None if too little of it can be read;
    errors: everything that is wrong with it; plans: of every condition."""

    loaded: LoadedStudy | None
    errors: tuple[LabappError, ...]
    plans: tuple[Plan, ...]


def in_order(checked: Checked, plans: list[Plan] | None = None) -> LoadedStudy:
    """The study that was looked at. plans: gets its plans. Raises StudyError with every mistake."""
    if checked.errors or checked.loaded is None:
        raise StudyError.together(checked.errors)
    if plans is not None:
        plans += checked.plans
    return checked.loaded


def check_all(
    study: str | Path,
    predict_masked: PredictMasked = find_recorded_outputs,
    language: str | None = None,
) -> Checked:
    """Everything that is wrong with a study and with what it names.

    Raises StudyError if there is no such study, or its file cannot be opened.
    """
    examined = examine(study, language)
    errors = list(examined.errors)
    loaded = examined.loaded
    if loaded is None:
        return Checked(None, tuple(errors), ())
    errors += checks.find_unquoted_levels(loaded.path, examined.located)
    errors += words.mistakes(loaded)
    for other in examined.in_others:
        errors += words.mistakes(other)
    plans: list[Plan] = []
    if examined.factors_known:
        errors += _models(loaded)
        told = {(fault.file, fault.line) for error in errors for fault in error.faults}
        planned = list(errors)
        plans = _plans(loaded, predict_masked, planned)
        whole = len(planned) == len(errors) and not examined.left_out
        # What cannot be planned for a mistake that is told already is no other one.
        errors += [
            error
            for error in planned[len(errors) :]
            if not {(fault.file, fault.line) for fault in error.faults} <= told
        ]
        errors += text_faults(loaded, examined.located, plans)
        for other in examined.in_others:
            in_other = _plans(other, predict_masked, list(errors))
            errors += text_faults(other, examined.located, in_other)
        if whole:
            errors += _nobody_counts(loaded, plans)
        errors += exclusion_faults(loaded, plans)
        errors += quota_faults(loaded)
    errors += find_measured_faults(loaded)
    if not errors:  # what is wrong may be what depends on it
        errors += _find_unused_factors(loaded)
    errors += _unknown_related(loaded)
    return Checked(loaded, tuple({str(e): e for e in errors}.values()), tuple(plans))


def _plans(
    loaded: LoadedStudy, predict_masked: PredictMasked, errors: list[LabappError]
) -> list[Plan]:
    """A plan of every condition and session; errors: what is found wrong is added to it."""

    @cache
    def there(model: str) -> tuple[str, LatentSpace]:
        """The model, or another one in its place, so that the rest is looked at: what is missing is
        told already (`_models`)."""
        try:
            return model, space_of(model)
        except ModelError:
            if not errors:
                raise
            return STAND_IN, space_of(STAND_IN)

    # Every stage of every plan asks for them: a card is read once.
    priors = cache(lambda model: prior_of(there(model)[0]))
    tasks = cache(lambda model: tasks_of(there(model)[0]))
    references: dict[str, str] = {}

    @cache
    def stimuli(reference: str) -> StimulusSet:
        try:
            stimulus_set = library.load(reference)
            # Nothing looked at a folder when it came in; once is enough for all variants.
            named_by_folder = Path(reference) == stimulus_set.folder
            if named_by_folder and stimulus_set.sha256 not in references:
                read_checked(stimulus_set.folder)
        except StimuliError as error:
            raise _name_set_error(reference, error) from error
        errors.extend(set_faults(stimulus_set))
        references[stimulus_set.sha256] = reference
        return stimulus_set

    def outputs(
        stimulus_set: StimulusSet, masking: Masking, photo: Photo, method: str
    ) -> Sequence[Logits]:
        try:
            return predict_masked(stimulus_set, masking, photo, method)
        except (StimuliError, ModelError) as error:
            raise _name_set_error(references[stimulus_set.sha256], error) from error

    return [
        planner.realise(
            loaded,
            loaded.study.participants.label(number),
            session,
            space_of=lambda model: there(model)[1],
            prior_of=priors,
            tasks_of=tasks,
            stimuli_of=stimuli,
            predict_masked=outputs,
            drawn=drawn,
            errors=errors,
        )
        for session, (number, drawn) in product(sessions_of(loaded.study), variants(loaded.study))
    ]


def _name_set_error(reference: str, error: LabappError) -> StudyError:
    """What is wrong with a stimulus set, with its name as the study has it, by whose line it is
    then told once, whatever in the flow shows the set."""
    what = error.what if repr(reference) in error.what else f"{reference!r}: {error.what}"
    alone = f" `labapp stimuli check {reference}` checks only the set."
    return StudyError(what, todo=error.todo + alone * Path(reference).is_dir())


OF_EVERY_STUDY = frozenset(
    {"completed", "practice_correct", "min_solved", "withdrawn", "by_hand", "sessions"}
)
"""Reasons that labapp itself gives, and that no rule of a study can be called."""


def exclusion_faults(loaded: LoadedStudy, plans: Sequence[Plan]) -> Iterator[StudyError]:
    """Every mistake in the rules, with its line. plans: of every condition."""
    for name, rule in loaded.study.exclude.items():
        at: Path_ = ("exclude", name)
        if name in OF_EVERY_STUDY:
            yield _fault(
                loaded, at, f"{name!r} is a reason that every study already has", "Rename it."
            )
        conditions = {"only_if": rule.only_if, "when": rule.when}
        of_answers = (rule.item, rule.score, rule.failed_checks_above, *conditions.values())
        if has_unread(loaded) and any(criterion not in (None, {}) for criterion in of_answers):
            continue
        for key, condition in conditions.items():
            yield from condition_faults(loaded, (*at, key), condition)
        if rule.when:
            continue
        if rule.item is not None:
            yield from _item(loaded, at, rule, rule.item)
        elif rule.score is not None:
            yield from _score(loaded, at, rule, rule.score)
        else:
            yield from _task(loaded, at, rule, plans)


def quota_faults(loaded: LoadedStudy) -> Iterator[StudyError]:
    """Every quota that nobody can fall under, or that has no limit."""
    limits = loaded.study.quota_limits
    for name, quota in loaded.study.quotas.items():
        at: Path_ = ("quotas", name)
        if not has_unread(loaded):
            yield from condition_faults(loaded, (*at, "when"), quota.when)
        if not any(is_answer(leaf.name) for leaf in leaves(quota.when)):
            what = (
                "it does not depend on an answer; the design's `per_cell` sets how many "
                "participants each cell needs"
            )
            yield _fault(
                loaded, (*at, "when"), what, "Use an answer, as in `{people.used: often}`."
            )
        if quota.share is not None and not limits[name]:
            what = "a share needs a total, but the design does not set the number of participants"
            yield _fault(
                loaded, (*at, "share"), what, "Write `at_most`, or `per_cell` in `design`."
            )


def condition_faults(
    loaded: LoadedStudy, place: Path_, condition: Mapping[str, Any]
) -> Iterator[StudyError]:
    """What in a condition on a whole session never holds. place: its path in the study."""
    variables = checks.values_at(loaded.study, ())
    asked = {own_name(*called): item for called, item in items(loaded).items()}
    for leaf in leaves(condition):
        at = (*place, *leaf.place)
        if leaf.name in asked:
            faults = never(leaf.name, asked[leaf.name], leaf.wanted)
        elif leaf.name in variables:
            possible = variables[leaf.name]
            wanted = leaf.wanted if isinstance(leaf.wanted, Mapping) else as_tuple(leaf.wanted)
            met = [each for each in possible if holds({"-": wanted}, {"-": each})]
            known = ", ".join(map(repr, possible))
            given = ", ".join(map(repr, as_tuple(leaf.wanted)))
            never_so = f"{leaf.name} is never {given}; it is one of: {known}"
            faults = iter(() if met else [never_so])
        else:
            known = ", ".join((*variables, *asked)) or "none"
            kind = "item" if is_answer(leaf.name) else "variable"
            faults = iter([f"there is no {kind} {leaf.name!r}; there are: {known}"])
        for what in faults:
            yield _fault(loaded, at, what, "Use one of these, with one of its values.")


def _resolve_measure(
    loaded: LoadedStudy, place: Path_, measure: str, known: Iterable[Called], kind: str
) -> Called:
    names = ", ".join(dict.fromkeys(name for _, name in known)) or "none"
    unknown = f"no questionnaire in the flow has {kind} {measure!r}; there are: {names}"
    return resolve(loaded, place, measure, known, unknown, "Name one of these.")


def find_measured_faults(loaded: LoadedStudy) -> Iterator[StudyError]:
    """Covariates and measured groups that no questionnaire gives, or that are named twice."""
    measured = () if loaded.study.design is None else loaded.study.design.measured
    if has_unread(loaded):
        return
    known = list(dict.fromkeys((*scores(loaded), *items(loaded))))
    names: dict[Called, str] = {}
    for index, name in enumerate(measured):
        place: Path_ = ("design", "measured", index)
        try:
            of = _resolve_measure(loaded, place, name, known, "an item or a score")
        except StudyError as error:
            yield error
            continue
        if (first := names.setdefault(of, name)) != name:
            what = f"{name!r} is {first!r} again, but each is measured only once"
            yield _fault(loaded, place, what, "Leave one of them out.")


def _item(loaded: LoadedStudy, at: Path_, rule: ExcludeRule, measure: str) -> Iterator[StudyError]:
    known = items(loaded)
    try:
        item = known[_resolve_measure(loaded, (*at, "item"), measure, known, "an item")]
    except StudyError as error:
        yield error
        return
    if rule.below is not None or rule.above is not None:
        yield from _limit(loaded, at, rule, measure, item.bounds())
        return
    key = "answer" if rule.answer is not None else "answer_not"
    given = getattr(rule, key)
    for level in given if isinstance(given, tuple) else (given,):
        if not _possible(item, level):
            what = f"{level!r} is not an answer to {measure}; possible are: {_answers(item)}"
            yield _fault(loaded, (*at, key), what, "Give one of these.")


def _score(loaded: LoadedStudy, at: Path_, rule: ExcludeRule, measure: str) -> Iterator[StudyError]:
    known = scores(loaded)
    try:
        limits = known[_resolve_measure(loaded, (*at, "score"), measure, known, "a score")]
    except StudyError as error:
        yield error
        return
    yield from _limit(loaded, at, rule, measure, limits)


def _limit(
    loaded: LoadedStudy, at: Path_, rule: ExcludeRule, measure: str, limits: Limits | None
) -> Iterator[StudyError]:
    """A limit for what is no number, or that nobody, or everybody, is beyond."""
    key = "below" if rule.below is not None else "above"
    if limits is None:
        what = f"{measure} has no number that could be {key} another"
        yield _fault(loaded, (*at, key), what, "Use `answer` or `answer_not` with its options.")
        return
    low, high = limits
    limit = getattr(rule, key)
    nobody = limit <= low if key == "below" else limit >= high
    everybody = limit > high if key == "below" else limit < low
    if nobody or everybody:
        who = "nobody" if nobody else "everybody"
        what = f"{who} would fail: {measure} ranges from {low:g} to {high:g}"
        yield _fault(loaded, (*at, key), what, "Give a number between these.")


def _task(
    loaded: LoadedStudy, at: Path_, rule: ExcludeRule, plans: Sequence[Plan]
) -> Iterator[StudyError]:
    (key,) = rule.model_fields_set
    if key == "interrupted_s_above" or loaded.origin:
        return  # what could not be read may hold the questions
    if key == "failed_checks_above":
        asked = [
            sum(len(row.checks) for part in plan.parts if (row := part.questionnaire()) is not None)
            for plan in plans
        ]
        most = max(asked, default=0)
        items = (item for instrument in loaded.instruments.values() for item in instrument.items)
        if not most and any(item.right is not None for item in items):
            return  # asked in a session that is not the first
        if not most:
            what = "no questionnaire in the flow has an attention check"
            todo = "Add `check: …` with the right answer to an item."
            yield _fault(loaded, (*at, key), what, todo)
        elif (rule.failed_checks_above or 0) >= most:
            what = f"nobody would fail; the number of checks that are asked is {most}"
            yield _fault(loaded, (*at, key), what, "Give a smaller number.")
        return
    parts = [part for plan in plans for part in plan.parts if part.measures]
    if not parts:
        yield _fault(loaded, (*at, key), "the flow has no stages with questions", "Leave it out.")
    elif key == "completion_rate_below" and not any(part.solvable for part in parts):
        what = "no stage in the flow has questions that can be solved"
        yield _fault(loaded, (*at, key), what, "Leave it out.")


def _possible(item: Item, level: object) -> bool:
    bounds, options = item.bounds(), item.offered()
    if options:
        return str(level) in options
    if bounds is None:
        return True
    try:
        number = float(str(level))
    except ValueError:
        return False
    return (number.is_integer() or not item.in_steps) and bounds[0] <= number <= bounds[1]


def _answers(item: Item) -> str:
    bounds = item.bounds()
    if bounds is not None:
        return f"{'whole ' if item.in_steps else ''}numbers from {bounds[0]:g} to {bounds[1]:g}"
    return ", ".join(item.offered()) or "any text"


def _fault(loaded: LoadedStudy, place: Path_, what: str, todo: str) -> StudyError:
    return StudyError.at(loaded.path, loaded.located.line(place), format_path(place), what, todo)
