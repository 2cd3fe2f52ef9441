"""analysis.R: a script in R that makes the default analyses again and compares every number.

What is the same for all is `recompute.R`; before it stands what each analysis is of.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

from labapp.analysis.design.analyses import (
    TRIALS_LOGISTIC,
    TRIALS_MIXED,
    VARIANCE,
    Analysis,
    StudyAnalyses,
)
from labapp.analysis.design.anova import EMPTY_CELL
from labapp.analysis.design.contrasts import CONTRAST
from labapp.analysis.reliability import Reliability

SCRIPT = "analysis.R"


def script(studies: Iterable[StudyAnalyses], scales: Iterable[Reliability] = ()) -> str:
    """The whole script; empty where nothing was analysed."""
    chosen = [results for results in studies if results.analyses]
    checked = list(dict.fromkeys(_scale(scale) for scale in scales if not scale.why))
    if not chosen and not checked:
        return ""
    if checked:
        checked.insert(0, _r("scales.R"))
    return "\n".join([_r("recompute.R"), *(_study(of) for of in chosen), *checked, _END])


def _r(name: str) -> str:
    return files("labapp.analysis.design").joinpath(name).read_text(encoding="utf-8")


def _scale(scale: Reliability) -> str:
    fields = {
        "study": _text(str(scale.about["study"])),
        "instrument": _text(str(scale.about["instrument"])),
        "version": _text(str(scale.about["instrument_version"])),
        "score": _text(str(scale.about["score"])),
        "cells": _texts(scale.cells),
    }
    return f"check_scale(list({', '.join(f'{name} = {value}' for name, value in fields.items())}))"


_END = """
# Tests that have a p, and that nothing above recomputes.
p_values <- unlist(seen)
left <- printed[!is.na(printed$p) & !printed$p %in% p_values, ]
if (nrow(left)) {
  cat("Not recomputed:\\n")
  print(left[c("analysis", "quantity", "kind", "test", "p")], row.names = FALSE)
}
off <- results[!results$equal, ]
if (nrow(off)) print(off, row.names = FALSE)
cat(sprintf("%d numbers compared, %d off\\n", nrow(results), nrow(off)))
write.csv(results, file.path(folder, "analysis-R.csv"), row.names = FALSE)
if (nrow(off) || !nrow(results)) quit(status = 1)
"""


def _study(results: StudyAnalyses) -> str:
    plan = results.declaration.analysis
    method = "BH" if plan.correction == "fdr" else plan.correction
    lines = [f"## Study {results.study}", f"METHOD <- {_text(method)}"]
    for analysis in results.analyses:
        lines += [f"# {analysis.outcome.name} ({analysis.outcome.group})", _call(analysis)]
    numbers = ", ".join(str(analysis.number) for analysis in results.analyses)
    families = f"list(c({numbers}))" if plan.family == "all" else f"c({numbers})"
    lines.append(f'for (k in {families}) for (kind in c("contrast", "equivalence"))')
    lines.append("  check_family(printed[printed$kind == kind & printed$analysis %in% k, ])")
    return "\n".join(lines)


def _call(analysis: Analysis) -> str:
    layout = analysis.outcome.layout
    models = {model.name: model for model in analysis.beside}
    random = _random(models[TRIALS_MIXED].remarks) if TRIALS_MIXED in models else ""
    trials = "logistic" if TRIALS_LOGISTIC in models else "mixed" if random else "none"
    fields = {
        "id": str(analysis.number),
        "quantity": _text(analysis.outcome.name),
        "factors": _texts([factor.name for factor in layout.factors]),
        "levels": f"list({', '.join(_texts(factor.levels) for factor in layout.factors)})",
        "within": f"c({', '.join(_flag(factor.within) for factor in layout.factors)})",
        "measured": _texts([factor.name for factor in layout.factors if factor.measured]),
        "covariates": _texts(layout.covariates),
        "crossed": _flag(EMPTY_CELL not in analysis.main.remarks),
        "model": _text(analysis.main.name),
        "transform": _text(analysis.transform or "none"),
        "complete": _flag(VARIANCE in models),
        "trials": _text(trials),
        "random": _text(random),
        "criterion": _criterion(analysis.main.criterion),
        "trials_criterion": _criterion(
            models[TRIALS_MIXED].criterion if TRIALS_MIXED in models else None
        ),
        "plain": 'function(names) sub("^factor_", "", names)',
        "contrasts": _contrasts(analysis),
    }
    inner = ",\n  ".join(f"{name} = {value}" for name, value in fields.items())
    return f"analyse(list(\n  {inner}))"


def _criterion(value: float | None) -> str:
    return "NA" if value is None else repr(value)


def _random(remarks: Sequence[str]) -> str:
    """The random effects of a formula, from what is said of the fit."""
    told = next((text for text in remarks if text.startswith("random effects ")), "")
    return " + ".join(told.removeprefix("random effects ").split(", "))


def _contrasts(analysis: Analysis) -> str:
    made = []
    for comparison, row in zip(analysis.comparisons, analysis.select(CONTRAST), strict=False):
        if row.difference is None:
            continue
        weights = ", ".join(
            f"`{factor}` = {_named(levels)}" for factor, levels in comparison.weights.items()
        )
        made.append(
            f"list(name = {_text(row.contrast)}, factors = {_text(row.factors)}, "
            f"direction = {_text(row.direction)}, "
            f"untransformed = {_flag(analysis.raw_equivalence)}, weights = list({weights}))"
        )
    if len(made) < 2:
        return f"list({', '.join(made)})"
    inner = ",\n    ".join(made)
    return f"list(\n    {inner})"


def _named(levels: Mapping[str, float]) -> str:
    pairs = ", ".join(f"{_text(level)} = {weight!r}" for level, weight in levels.items())
    return f"c({pairs})"


def _texts(texts: Iterable[str]) -> str:
    return f"c({', '.join(map(_text, texts))})"


def _text(text: str) -> str:
    """A literal of R: its escapes are those of JSON, but for the slash and surrogates."""
    return json.dumps(text, ensure_ascii=False)


def _flag(flag: bool) -> str:
    return "TRUE" if flag else "FALSE"
