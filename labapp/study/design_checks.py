"""What of a declared design does not fit the flow that it is of, and what cannot come out even."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from labapp.discovery import PROFILE_NAMES
from labapp.study import allocation
from labapp.study.conditions import Value, values_of
from labapp.study.design import MODEL, SESSION, AnalysisPlan, Design, Hypothesis, Place
from labapp.study.flow import placed_items
from labapp.study.schema import Study


def design_faults(study: Study, flow_is_whole: bool = True) -> Iterator[tuple[Place, str]]:
    """What is wrong with a design and its flow: where it stands, and what is wrong and allowed.
    flow_is_whole: whether all of the flow could be read."""
    for place, item in placed_items(study.flow):
        variable = item.goes_through()
        if variable is not None and variable in around(study, place):
            yield (*place, "each"), f"it stands within another `each: {variable}`"
    design = study.design
    if design is None:
        return
    cells = [allocation.cell_name(cell) for cell in design.cells]
    if again := next((cell for cell in cells if cells.count(cell) > 1), None):
        yield ("design", "between"), f"two cells are both called {again!r}: name levels otherwise"
    gone_through = {item.goes_through() for _, item in placed_items(study.flow)}
    brought = [name for name, levels in design.within_levels.items() if levels is not None]
    known = ", ".join(brought) or "none"
    for place, item in placed_items(study.flow):
        variable = item.goes_through()
        if variable is None:
            continue
        if variable not in brought:
            what = f"{variable!r} is no factor within participants that brings its levels"
            yield (*place, "each"), f"{what}; there are: {known}"
    for index, factor in enumerate(design.within_levels if flow_is_whole else ()):
        at: Place = ("design", "within", index)
        if factor == MODEL:
            yield from ((at, what) for what in _models(study))
        elif factor not in gone_through:
            yield at, f"nothing in the flow goes through {factor}: write `each: {factor}` there"


def _models(study: Study) -> Iterator[str]:
    """What is wrong with the models as levels of a factor within participants."""
    try:
        by_cell = allocation.models_by_cell(study)
    except KeyError:
        return  # an unknown variable in braces, which is told where it stands
    names = {cell: ", ".join(sorted(models)) for cell, models in by_cell.items()}
    if not any(names.values()):
        yield "no stages of the flow list models"
        return
    first = next(iter(by_cell))
    for cell, models in names.items():
        if models != names[first]:
            yield (
                f"everybody meets every model, but where {cell} these are {models or 'none'}, and "
                f"where {first} {names[first] or 'none'}"
            )
            return
    if len(by_cell[first]) < 2:
        yield f"a factor has two levels or more, and the stages list {names[first]} alone"


def around(study: Study, place: Place) -> set[str]:
    """What each `each` around a place of the flow goes through."""
    outer = (item for at, item in placed_items(study.flow) if place[: len(at)] == at != place)
    return {variable for item in outer if (variable := item.goes_through()) is not None}


def values_at(study: Study, place: Place) -> dict[str, tuple[Value, ...]]:
    """Every value that each variable can have where an item of the flow stands."""
    design = study.design
    outer = around(study, place)
    if design is None:
        return values_of(study.assignment, inside=bool(outer))
    values: dict[str, tuple[Value, ...]] = dict(design.between)
    if design.sessions:
        values[SESSION] = design.sessions
    brought = design.within_levels.items()
    return values | {name: own for name, own in brought if own is not None and name in outer}


def uneven(study: Study) -> Iterator[tuple[Place, str]]:
    """What a design asks for that cannot come out even, or leaves open: where it stands, and what
    could be asked for instead. It can be run as it is."""
    design = study.design
    if design is None:
        return
    models = next(iter(allocation.models_by_cell(study).values()))
    sizes = {
        factor: len(models if levels is None else levels)
        for factor, levels in design.within_levels.items()
    }
    if len(models) > 1 and MODEL not in sizes:
        yield (
            ("design",),
            (
                f"Stages list {len(models)} models, and `within` does not name `model`: everybody "
                "meets them as they are listed."
            ),
        )
    if design.per_cell is not None and design.assign == "number":
        yield (
            ("design", "per_cell"),
            (
                "`assign: number` knows nothing of other sessions: nobody is told when a cell has "
                "its participants, and who takes the place of another has the slot of a new number."
            ),
        )
    if design.per_cell is not None:
        yield from _not_a_multiple(design, design.per_cell, sizes)


def _not_a_multiple(
    design: Design, wanted: int, sizes: dict[str, int]
) -> Iterator[tuple[Place, str]]:
    """Of a number of participants with whom the orders of a factor do not come out even."""
    for factor, n in sizes.items():
        rows = allocation.rows_of(design.order, n)
        if n < 2 or wanted % rows == 0:
            continue
        below = wanted // rows * rows
        nearest = f"{below} or {below + rows}" if below else f"{rows}"
        what = (
            f"{wanted} participants a cell do not balance the {n} levels of {factor} in full: "
            f"order {design.order} needs a multiple of {rows}, such as {nearest}. With {wanted} "
            "a level stands at most once more often at a place than another."
        )
        yield ("design", "per_cell"), what


def contradictions(
    design: Design | None,
    analysis: AnalysisPlan,
    hypotheses: tuple[Hypothesis, ...],
    levels: Mapping[str, tuple[str, ...]],
    lacks: Callable[..., bool] = lambda *start: False,
) -> Iterator[tuple[Place, str]]:
    """What in these does not fit together: where it stands, and what is wrong and allowed.

    Parameters
    ----------
    levels : by factor its levels as texts; () where only the sessions tell them.
    lacks : whether anything could not be read at or below a place: what may follow from that is
        passed over.
    """
    if analysis.profile not in (None, *PROFILE_NAMES):
        known = ", ".join(PROFILE_NAMES)
        what = f"there is no profile {analysis.profile!r}; there are: {known}, or none"
        yield ("analysis", "profile"), what
    if lacks("flow"):  # the models may stand there
        levels = {**levels, MODEL: ()}
    whole = not (lacks("design") or lacks("assignment"))
    for index, contrast in enumerate(analysis.contrasts if whole else ()):
        for factor, weights in contrast.weights.items():
            at: Place = ("analysis", "contrasts", index, factor)
            if factor not in levels:
                yield (
                    at,
                    (f"there is no factor {factor!r}; there are: {', '.join(levels) or 'none'}"),
                )
                continue
            for level in weights:
                if levels[factor] and str(level) not in levels[factor]:
                    known = ", ".join(levels[factor])
                    what = f"{level!r} is no level of {factor}; its levels are: {known}"
                    yield (*at, str(level)), what
    names = [contrast.name for contrast in analysis.contrasts]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield (
                ("analysis", "contrasts", index, "name"),
                f"{name!r} is the name of another contrast: each needs a name of its own",
            )
    known = ", ".join(map(repr, names)) or "none"
    names_known = not lacks("analysis", "contrasts")
    for outcome, effect in analysis.smallest_effect.items():
        if names_known and effect.contrast not in names:
            yield (
                ("analysis", "smallest_effect", outcome, "contrast"),
                f"there is no contrast {effect.contrast!r}; there are: {known}",
            )
    for index, hypothesis in enumerate(hypotheses):
        place: Place = ("hypotheses", index)
        if names_known and hypothesis.contrast is not None and hypothesis.contrast not in names:
            yield (
                (*place, "contrast"),
                f"there is no contrast {hypothesis.contrast!r}; there are: {known}",
            )
        # What could not be read may be what is missed here, or what would name it.
        whole_hypotheses = not lacks("hypotheses")
        factors = list(levels)
        unknown = [name for name in hypothesis.term or () if name not in levels] if whole else []
        if unknown:
            allowed = ", ".join(factors) or "none"
            yield (*place, "term"), f"there is no factor {unknown[0]!r}; there are: {allowed}"
        untested = hypothesis.contrast is None and hypothesis.term is None and whole_hypotheses
        if whole and design is not None and len(factors) > 1 and untested:
            terms = ", ".join(f"[{name}]" for name in factors)
            what = (
                "with several factors a hypothesis needs the contrast or the term that tests it: "
                f"`contrast`, or `term` as one of {terms} or their interaction "
                f"[{', '.join(factors[:2])}]"
            )
            yield place, what
        unnamed = hypothesis.contrast is None and whole_hypotheses
        if unnamed and hypothesis.direction != "two-sided":
            yield (
                (*place, "direction"),
                f"{hypothesis.direction!r} is of a contrast, and none is named",
            )
        if (
            hypothesis.direction == "equivalent"
            and hypothesis.outcome not in analysis.smallest_effect
            and not lacks("analysis", "smallest_effect")
        ):
            what = f"'equivalent' needs the smallest effect of {hypothesis.outcome}"
            yield (*place, "direction"), f"{what} under analysis.smallest_effect"
    if design is None or lacks("design"):
        return
    if design.per_cell is not None and not design.between and not design.within:
        yield ("design", "per_cell"), "there is no factor, and so no cell"
