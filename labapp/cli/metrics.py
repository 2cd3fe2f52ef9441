"""`labapp metrics`: how disentangled or pure a representation is, from files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labapp.cli.options import Json
from labapp.console import say, say_json
from labapp.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from labapp.metrics.evaluation.files import NumberTable
    from labapp.metrics.evaluation.scores import MetricOutcome

ALL = "all"


def metrics(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="mi, mig, sap, dci, modularity, explicitness, betavae, factorvae, r4, dcimig, ois "
            "or nis, or one of an installed package; or all.",
        ),
    ],
    codes: Annotated[
        Path,
        typer.Option(
            "--codes",
            metavar="FILE",
            help="One line an instance, one column a code: .npy or .csv. OIS and NIS also take "
            ".npy of shape (n, codes, numbers of each).",
        ),
    ],
    factors: Annotated[
        Path,
        typer.Option(
            "--factors",
            metavar="FILE",
            help="The same instances in the same order, one column a factor or concept.",
        ),
    ],
    train_codes: Annotated[
        Path | None,
        typer.Option(
            "--train-codes",
            metavar="FILE",
            help="For NIS: codes of other rows to learn from; all rows of --codes are then scored.",
        ),
    ] = None,
    train_factors: Annotated[
        Path | None,
        typer.Option(
            "--train-factors", metavar="FILE", help="The factors of the rows of --train-codes."
        ),
    ] = None,
    as_published: Annotated[
        bool,
        typer.Option(
            "--as-published",
            help="Compute as the released code does where it differs from the paper.",
        ),
    ] = False,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**32 - 1, help="Another seed, other draws.")
    ] = 0,
    binarize: Annotated[
        bool,
        typer.Option(
            "--binarize",
            help="For OIS and NIS, which need classes: split each factor at its median.",
        ),
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Another setting of the metric, such as binning=equal-frequency; with all, "
            "mig.binning=equal-frequency.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Folder to write: numbers (JSON, CSV) and heat maps (SVG, PNG).",
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Score codes against the true factors, without people: one metric, or all.

    Example: labapp metrics mig --codes codes.npy --factors factors.npy

    Example: labapp metrics all --codes codes.csv --factors factors.csv --out scores
    """
    from labapp.metrics.evaluation import files, folder, scores

    chosen = None if name == ALL else scores.find(name)
    settings = _settings(name, set_ or [])
    train = _training_rows(name, train_codes, train_factors)
    c, f = files.read(codes, "c"), files.read(factors, "z")
    with folder.new_folder(out):
        outcomes = _outcomes(name, c, f, seed, as_published, binarize, settings, train)
        written = [] if out is None else folder.write(outcomes, c.names, f.names, out)
    rows = [outcome.to_json() for outcome in outcomes]
    if json_:
        say_json(rows if chosen is None else rows[0])
    else:
        from labapp.metrics.evaluation import terminal

        if chosen is None:
            terminal.show_all(outcomes)
        else:
            terminal.show_one(outcomes[0], c.names, f.names)
        for path in written:
            say(path)


def _training_rows(
    name: str, codes: Path | None, factors: Path | None
) -> tuple[ArrayLike, ArrayLike] | None:
    from labapp.metrics.evaluation import files
    from labapp.metrics.registry import METRICS

    if codes is None and factors is None:
        return None
    if codes is None or factors is None:
        raise UsageError(
            "Rows to learn from need codes and factors.",
            todo="Give both --train-codes and --train-factors.",
        )
    if name == ALL or not METRICS[name].train:
        takers = ", ".join(metric for metric in METRICS if METRICS[metric].train)
        raise UsageError(
            f"{name} takes no other rows to learn from.", todo=f"Those that do: {takers}."
        )
    return files.read(codes, "c").values, files.read(factors, "z").values


def _settings(name: str, texts: list[str]) -> dict[str, dict[str, object]]:
    """By metric."""
    from labapp.metrics.evaluation import scores

    if name == ALL:
        return scores.parse_all_settings(texts)
    return {name: scores.parse_settings(scores.find(name), texts)} if texts else {}


def _outcomes(
    name: str,
    codes: NumberTable,
    factors: NumberTable,
    seed: int,
    as_published: bool,
    cut: bool,
    settings: dict[str, dict[str, object]],
    train: tuple[ArrayLike, ArrayLike] | None,
) -> list[MetricOutcome]:
    from labapp.metrics.evaluation import scores
    from labapp.metrics.evaluation.terminal import show_progress

    with show_progress() as say:
        if name != ALL:
            metric = scores.find(name)
            score = scores.compute(
                metric,
                codes.values,
                factors.values,
                seed=seed,
                as_published=as_published,
                cut=cut,
                settings=settings.get(name),
                train=train,
                say=say,
            )
            return [scores.MetricOutcome(metric, score)]
        return scores.compute_all(
            codes.values,
            factors.values,
            seed=seed,
            as_published=as_published,
            cut=cut,
            settings=settings,
            say=say,
        )
