"""`labapp metrics`: how disentangled or pure a representation is, from files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from labapp.base.console import say, say_json
from labapp.base.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ALL = "all"
CORRELATIONS = "correlations"
"""Of factors alone; like `ALL`, no metric's name."""


def metrics(
    name: str,
    factors: Path,
    codes: Path | None = None,
    labels: Path | None = None,
    train_codes: Path | None = None,
    train_factors: Path | None = None,
    train_labels: Path | None = None,
    as_published: bool = False,
    seed: int = 0,
    binarize: bool = False,
    set_: list[str] | None = None,
    top: int | None = None,
    out: Path | None = None,
    json_: bool = False,
) -> None:
    """Score a model's codes against the true factors or concepts, with one metric or all of them.

    Example: labapp metrics mig --codes codes.npy --factors factors.npy

    Example: labapp metrics all --codes codes.csv --factors factors.csv --labels labels.csv

    Example: labapp metrics correlations --factors factors.csv --labels labels.csv --top 10

    name NAME: A metric: mi, mig, sap, dci, modularity, explicitness, betavae, factorvae, r4,
        dcimig, ois, nis, concept-probe, task-probe, completeness, alignment-accuracy, ctl, icl, or
        one of an installed package. Or `all`. Or `correlations` between factors, which needs no
        codes.
    --factors FILE: The true factors or concepts (.npy or .csv): a row per instance, a column per
        factor.
    --codes FILE: The model's codes (.npy or .csv): a row per instance, a column per code. OIS, NIS,
        the probes, completeness and alignment-accuracy also accept .npy of shape (n, codes, numbers
        per code).
    --labels FILE: The class of each instance, in the same order. For task-probe, completeness, ctl
        and correlations.
    --train-codes FILE: Codes of other instances to train on, for NIS, the probes and completeness.
        All rows of --codes are then scored.
    --train-factors FILE: The factors of the instances in --train-codes.
    --train-labels FILE: The labels of the instances in --train-codes.
    --as-published: Compute the metric as in the paper's released code, if that differs from the
        paper's text.
    --seed (0 to 4294967295): The seed for random draws.
    --binarize: Split each factor at its median, for metrics that need two classes per concept.
    --set KEY=VALUE: A setting of the metric, such as binning=equal-frequency; with `all`,
        mig.binning=equal-frequency. Can be repeated.
    --top N (from 1): For correlations: the number of factors to show, beginning with those that
        say most about the labels. Default: 10.
    --out DIR: The folder to write: numbers (JSON, CSV) and heat maps (SVG, PNG).
    """
    from labapp.models.metrics.evaluation import scores

    if name == CORRELATIONS:
        _correlations(factors, labels, codes, top, out, json_=json_)
        return
    if top is not None:
        raise UsageError("--top is for correlations.", todo="Leave it out.")
    if codes is None:
        raise UsageError(
            f"{name} compares codes with factors, but no codes were given.",
            todo="Give a file of codes with --codes.",
        )
    chosen = None if name == ALL else scores.find(name)
    settings = _settings(name, set_ or [])
    train = _training_rows(name, train_codes, train_factors)
    c, f = scores.read(codes, "c"), scores.read(factors, "z")
    tasks = [
        None if path is None else scores.read(path, "y").values for path in (labels, train_labels)
    ]
    how: dict[str, Any] = {"seed": seed, "as_published": as_published, "cut": binarize}
    with scores.new_folder(out):
        with scores.show_progress() as tell:
            how |= {"labels": tasks[0], "say": tell}
            if chosen is None:
                outcomes = scores.compute_all(c.values, f.values, settings=settings, **how)
            else:
                score = scores.compute(
                    chosen,
                    c.values,
                    f.values,
                    settings=settings.get(name),
                    train=train,
                    train_labels=tasks[1],
                    **how,
                )
                outcomes = [scores.MetricOutcome(chosen, score)]
        written = [] if out is None else scores.write(outcomes, c.names, f.names, out)
    rows = [outcome.to_json() for outcome in outcomes]
    if json_:
        say_json(rows if chosen is None else rows[0])
    else:
        if chosen is None:
            scores.show_all(outcomes)
        else:
            scores.show_one(outcomes[0], c.names, f.names)
        for path in written:
            say(path)


def _correlations(
    factors: Path,
    labels: Path | None,
    codes: Path | None,
    top: int | None,
    out: Path | None,
    *,
    json_: bool,
) -> None:
    from labapp.models.metrics.evaluation import scores

    if labels is None or codes is not None:
        raise UsageError(
            "`correlations` compares factors, and needs labels to choose them.",
            todo="Give --factors and --labels, and no --codes.",
        )
    f = scores.read(factors, "z")
    y = scores.read(labels, "y").values
    with scores.new_folder(out):
        result = scores.correlations(f.values, y, top=top or scores.TOP)
        names = [f.names[place] for place in result.chosen]
        written = [] if out is None else scores.write_correlations(result, names, out)
    if json_:
        say_json(result.to_json(names))
    else:
        scores.show_correlations(result, names)
        for path in written:
            say(path)


def _training_rows(
    name: str, codes: Path | None, factors: Path | None
) -> tuple[ArrayLike, ArrayLike] | None:
    from labapp.models.metrics.evaluation import scores
    from labapp.models.metrics.registry import METRICS

    if codes is None and factors is None:
        return None
    if codes is None or factors is None:
        raise UsageError(
            "Training rows need both codes and factors.",
            todo="Give both --train-codes and --train-factors.",
        )
    if name == ALL or not METRICS[name].train:
        takers = ", ".join(metric for metric in METRICS if METRICS[metric].train)
        raise UsageError(f"{name} cannot be trained on separate rows.", todo=f"These do: {takers}.")
    return scores.read(codes, "c").values, scores.read(factors, "z").values


def _settings(name: str, texts: list[str]) -> dict[str, dict[str, object]]:
    """By metric."""
    from labapp.models.metrics.evaluation import scores

    if name == ALL:
        return scores.parse_all_settings(texts)
    return {name: scores.parse_settings(scores.find(name), texts)} if texts else {}
