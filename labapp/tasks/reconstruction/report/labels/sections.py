"""The section of the report on names of dials (paper 000, Tables 1 and A.4).

Files beside the report: the sheet for raters, and the tables as a page of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from labapp import __version__
from labapp.base.report.listing import NONE
from labapp.base.report.page import (
    Html,
    count,
    decimal,
    heading,
    joined,
    page,
    paragraph,
    render,
    table,
    two_lines,
)
from labapp.coding.agreement.measure import DRAWS
from labapp.tasks.reconstruction.report.labels.names import TEXT, Model, Name
from labapp.tasks.reconstruction.report.labels.sheet import (
    HELP,
    INSTRUCTIONS,
    SHEET,
    Effects,
    Found,
    coverage,
    covered,
    quoted,
)

AGREED = " ✓"
LITTLE = "little effect"

_Both = tuple[Model, Effects]


def of_study(study: str, result: Found) -> Iterator[Html]:
    """Nothing where no dial was named."""
    if study not in result.studies:
        return
    models = result.of_study(study)
    yield heading(3, "Names given to dials")
    repeats = any(model.published for model, _ in models)
    yield paragraph(
        ("As in Tables 1 and A.4 of Ross et al. (2021): the" if repeats else "The")
        + " names that dials had at the end of their stage, of the sessions that count. The order "
        "of the names is drawn."
    )
    if provenance := _provenance([model for model, _ in models]):
        yield paragraph(provenance, "note")
    for line in legend(study, result):
        yield paragraph(line, "quiet")
    for sliders, some in groupby(models, key=lambda pair: pair[0].sliders):
        yield names_table(list(some), result, f"Models with {count(sliders, 'slider')}.")
    for plate in result.drawn[study]:
        yield plate.html("names")
    yield models_table(models, result)
    if repeats:
        yield paragraph(TEXT, "quiet")
        others = [m.model for m, _ in models if (p := m.published) and not p.same_model]
        if others:
            yield paragraph(
                f"{', '.join(others)}: not the paper's models, and other participants; the "
                "published numbers stand there for the reader's orientation.",
                "quiet",
            )


def _provenance(models: Sequence[Model]) -> str:
    """Whose names these are, where programs are among those who could give them."""
    programs = frozenset[str]().union(*(model.programs for model in models))
    if not programs:
        return ""
    met = frozenset[str]().union(*(model.met for model in models))
    of = "All" if programs == met else f"{len(programs)} of {len(met)}"
    return (
        f"{of} participants here are simulated: programs, not people. A program names a dial after "
        "what it saw the dial change, with a word from a short list: these names and how far "
        "raters agree on them try out the analysis, and say nothing of people."
    )


def legend(study: str, result: Found) -> Iterator[str]:
    """How to read the marks of the tables, and how far raters agree."""
    yield from _raters(result)
    models = result.of_study(study)
    if any(effects.of for _, effects in models):
        from labapp.models.representations import effects as measured

        yield (
            f"Effect: the mean distance d(x, x') between pictures with the dial at its "
            f"{measured.LOW}th and its {measured.HIGH}th percentile (of a choice: between all "
            f"pairs of its values), the others left where {measured.ROWS} held-out instances have "
            "them, over that of the model's strongest dial. Grey and marked: below "
            f"{measured.LITTLE:.0%}. The threshold is ours."
        )
    for model, effects in models:
        if effects.why_not:
            yield (
                f"{model.model}: the effect of its dials is not known here, and none is grey. "
                f"Why: {effects.why_not}."
            )
    yield (
        "Named by: participants who named the dial, of those who met the model (its coverage). "
        "A name that was taken away again does not count."
    )
    if hidden := result.withheld.get(study):
        yield (
            f"Left out: {count(hidden, 'participant')} of whom there is a de-identified copy only; "
            "it holds no names."
        )


def _raters(result: Found) -> Iterator[str]:
    if not result.ratings:
        yield (
            f"Nobody has said yet which names are consistent: {SHEET} beside this page is for that."
        )
        return
    bold = f"Bold, underlined and with {AGREED.strip()}: names that "
    if len(result.ratings) == 1:
        yield (
            f"{bold}one rater ({result.ratings[0].rater}) calls consistent between participants. "
            "How far raters agree cannot be told from one."
        )
        return
    who = ", ".join(rating.rater for rating in result.ratings)
    every = "both raters" if len(result.ratings) == 2 else f"all {len(result.ratings)} raters"
    yield (
        f"{bold}{every} ({who}) call consistent between participants; where they differ, it is "
        "said how many do. The paper: “labels experimenters identified as consistent between "
        "participants” (Table 1)."
    )
    both = result.agreement
    if both is None or both.percent is None:
        yield "No dial was named by two participants: there is nothing for raters to agree on."
        return
    text = f"The raters say the same of {decimal(both.percent, 0)} % of {count(both.n, 'name')} "
    text += "that another participant's name stands beside. "
    if both.kappa is None:
        yield f"{text}{both.name} is undefined: {both.why_not}."
        return
    text += f"{both.name} = {decimal(both.kappa, 2)}"
    if both.low is None or both.high is None:
        yield f"{text}, with no interval: it is undefined in most bootstrap draws."
        return
    left_out = f", {both.undefined} of them without a kappa left out" if both.undefined else ""
    yield (
        f"{text}, 95 % interval {decimal(both.low, 2)} to {decimal(both.high, 2)} (percentiles of "
        f"{DRAWS:,} bootstrap draws of names{left_out}; names of one dial hang together, so that "
        "it may be too narrow)."
    )


def names_table(models: Sequence[_Both], result: Found, caption: str) -> Html:
    """A row a dial, with its effect, its coverage and its names; models one below the other."""
    return render(
        "labapp.tasks.reconstruction.report.labels:names.html",
        models=[_model(*both, result) for both in models],
        caption=caption,
        little=LITTLE,
        agreed=AGREED,
        nothing=NONE,
    )


def _model(model: Model, effects: Effects, result: Found) -> dict[str, object]:
    known = effects.of or [None] * len(model.dials)
    dials = [
        {
            "title": dial.title,
            "little": effect is not None and effect.little,
            "share": NONE if effect is None else _percent(effect.share),
            "by": f"{len(dial.people)}, {decimal(100 * coverage(model, dial), 0)} %",
            "names": [_name(name, result) for name in dial.names],
        }
        for dial, effect in zip(model.dials, known, strict=True)
    ]
    return {"name": model.model, "n": len(model.met), "dials": dials}


def _percent(share: float) -> str:
    """In per cent; what is not quite nothing is not shown as nothing."""
    return "< 1" if 0 < share < 0.005 else decimal(100 * share, 0)


def _name(name: Name, result: Found) -> dict[str, object]:
    """votes: how many raters call it consistent, where they differ."""
    said = [rating.says[name.id] for rating in result.ratings]
    votes = f"{sum(said)} of {len(said)} raters" if len(set(said)) > 1 else ""
    return {"text": quoted(name.text), "agreed": result.consistent(name), "votes": votes}


def models_table(models: Sequence[_Both], result: Found) -> Html:
    """Who named anything at all, and how many dials most participants named."""
    theirs = any(model.published for model, _ in models)
    rows = []
    for model, _ in models:
        met = len(model.met)
        named = f"{len(model.people)} of {met}, {decimal(100 * len(model.people) / met, 0)} %"
        cells: list[object] = [model.model, named, f"{covered(model)} of {len(model.dials)}"]
        if theirs:
            paper = model.published
            cells.insert(2, f"{paper.named_any} %" if paper else NONE)
            cells.append(f"{paper.covered} of {len(paper.names)}" if paper else NONE)
        cells.append(sum(len(dial.names) for dial in model.dials))
        if theirs:
            cells.append(sum(paper.names) if paper else NONE)
        if result.ratings:
            cells.append(sum(result.n_consistent(dial) or 0 for dial in model.dials))
        rows.append(cells)
    paper_says: list[object] = [two_lines("Paper", "D = 5 and 10")] if theirs else []
    counted: list[object] = [two_lines("Paper", "n = 5")] if theirs else []
    names = [
        "Model",
        two_lines("Named at least one dial", "participants, %"),
        *paper_says,
        two_lines("Dials with a coverage", "of 80 % or more"),
        *counted,
        "Names",
        *counted,
        *(["Consistent names"] if result.ratings else []),
    ]
    return table(
        names,
        rows,
        numeric=range(1, len(names)),
        caption="Coverage by model."
        + " Paper: of the model that is named alike, as its text says (named at least one dial) or "
        "counted in its tables." * theirs,
    )


PAGE = "label_tables.html"
NAMES = (SHEET, HELP, PAGE)
"""Every file that `write` makes."""


def write(result: Found, out: Path, made: datetime | None = None) -> list[Path]:
    """The files, where any dial was named. Nothing is overwritten; raises OSError."""
    if result.sheet is None:
        return []
    contents = {
        SHEET: result.sheet.text(),
        HELP: INSTRUCTIONS.format(sheet=SHEET),
        PAGE: tables_page(result, made or datetime.now(UTC)),
    }
    for name, content in contents.items():
        with (out / name).open("x", encoding="utf-8", newline="") as file:
            file.write(content)
    return [out / name for name in contents]


def tables_page(result: Found, made: datetime) -> str:
    """The tables of names alone, to be copied or printed."""
    studies = result.studies
    title = f"Names given to dials: {', '.join(studies)}"
    when = paragraph(f"Written {made:%Y-%m-%d %H:%M} UTC.", "quiet")
    header = joined([heading(1, title), when])
    body = joined(
        part
        for study in studies
        for part in (heading(2, f"Study {study}"), *of_study(study, result))
    )
    footer = paragraph(f"Analysed with labapp {__version__}.", "quiet")
    return page(title, header, body, footer)
