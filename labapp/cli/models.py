"""`labapp models`: list, show, train, evaluate and bench model packages."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labapp.base.console import say, say_json
from labapp.base.errors import CheckFailed, ModelError, UsageError
from labapp.cli import completion
from labapp.cli.commands import make_group
from labapp.cli.options import confirm, data_folder, progress_bar

if TYPE_CHECKING:
    from labapp.models.metrics.evaluation.scores import MetricOutcome

models_app = make_group("models", "labapp models list")

DataFolder = Annotated[
    Path | None,
    typer.Option(
        "--data",
        exists=True,
        help="The folder with the data set's files, such as MNIST's, or with your own pictures.",
    ),
]


@models_app.command("list")
def models_list(json_: bool = False) -> None:
    """List all models, both shipped ones and your own: decoders, classifiers and concept models.

    Example: labapp models list
    """
    from labapp.base import resources
    from labapp.models import catalog as models_catalog

    rows = models_catalog.models()
    if json_:
        say_json(rows)
        return
    wide = max((len(row["id"]) for row in rows), default=0)
    for row in rows:
        text = row.get("problem") or row["title"]
        kind = row.get("kind", "dials")
        say(f"{row['id']:{wide}}  {row.get('source', ''):7}  {kind:10}  {text}{_how_good(row)}")
    say(f"\nshipped: {resources.models()}\nown:     {resources.user_models()}")


@models_app.command("show")
def models_show(model: completion.Model, out: Path | None = None, json_: bool = False) -> None:
    """Show a model's card. With --out, draw what each slider of a decoder does.

    Example: labapp models show sinelines/vae --out vae.png

    --out FILE.png: Write a picture of what each slider does to this file.
    """
    import yaml

    from labapp.models import catalog as models_catalog

    if out is not None and models_catalog.kind_of(model) != "dials":
        raise UsageError(f"{model} has no sliders to draw.", todo="Leave --out out.")
    card = models_catalog.show(_model(model))
    if not json_:
        say(yaml.safe_dump(card, sort_keys=False, allow_unicode=True).rstrip())
    if out is not None:
        from labapp.models.representations import package, sheet_figure, sheets

        drawn = sheets.traversals(package.load_package(_model(model)))
        card["sheet"] = str(sheet_figure.write(drawn, out))
        if not json_:
            say(f"sheet: {card['sheet']}")
    if json_:
        say_json(card)


@models_app.command("title")
def models_title(model: completion.Model, title: str) -> None:
    """Rename one of your own models. Its card and hash stay the same, so sessions and
    registrations still recognise it.

    Example: labapp models title digits8/pca5 "Digits, five principal components"

    model: The id of a model of your own.
    title: The new title.
    """
    from labapp.cli import own_models

    say(f"title: {own_models.set_title(model, title)}")


@models_app.command("remove")
def models_remove(model: completion.Model, data: Path | None = None, yes: bool = False) -> None:
    """Permanently delete one of your own models. Studies and sessions that use it are listed first.

    Example: labapp models remove digits8/pca5

    model: The id of a model of your own.
    --yes: Do not ask for confirmation.
    """
    from labapp.cli import own_models

    folder = own_models.own_folder(model)
    for line in own_models.uses(model, data_folder(data)):
        say(line, err=True)
    if not yes:
        confirm(f"Delete {folder}, for good?", "Nothing was deleted.")
    for line in own_models.remove(model):
        say(line)


@models_app.command("train")
def models_train(
    recipe: Path,
    out: Path | None = None,
    device: str | None = None,
    fresh: bool = False,
    data: DataFolder = None,
    threads: int = 1,
) -> None:
    """Train a model. To interrupt, press Ctrl+C; to continue, run the same command again.

    Example: labapp models train models/recipes/sinelines-vae.yaml --out my-models

    recipe: A recipe file (see models/recipes).
    --out: The folder for models. Default: your own.
    --device: The device: cuda, mps or cpu.
    --fresh: Start again instead of continuing from a checkpoint.
    --threads (from 1): The number of processor threads.
    """
    from labapp.models import catalog as models_catalog

    folder = models_catalog.train(
        recipe, out, device=device, data_folder=data, resume=not fresh, threads=threads
    )
    say(f"model: {folder}")


@models_app.command("import")
def models_import(
    id_: str,
    latents: Path,
    onnx: Path | None = None,
    torch_export: Path | None = None,
    torchscript: Path | None = None,
    python: str | None = None,
    dataset: str | None = None,
    shape: str | None = None,
    distance: str | None = None,
    limits: Path | None = None,
    title: str | None = None,
    trust: bool = False,
    out: Path | None = None,
    json_: bool = False,
) -> None:
    """Import your own decoder, and try it on 1,000 latents.

    Example: labapp models import --onnx decoder.onnx --latents z.npy --id digits8/pca5

    --id DATASET/NAME: The id by which studies refer to the model.
    --latents FILE.npy: Latents (.npy), a row per instance. They give the sliders' limits and the
        questions.
    --onnx FILE: A decoder in ONNX format.
    --python PACKAGE:FUNCTION: Your own function in an installed package, as PACKAGE:FUNCTION. It
        runs without a sandbox.
    --dataset NAME: The name of the data set. Default: the part of the id before /.
    --shape HxW[xC]: The shape of a picture (rows x columns [x 3]) or series, if the decoder returns
        flat rows.
    --distance NAME: How pictures are compared: mse, mae, ssim, or the distance of a published
        study.
    --limits FILE: A YAML file with the sliders: name, low, high, step or k of each.
    --title: The title that people see.
    --out DIR: The folder to write. It must not exist yet. Default: <id> in your models folder,
        where studies find it.
    """
    from labapp.models.representations.importing.importing import import_decoder

    given: dict[str, Path | str | None] = {
        "onnx": onnx,
        "torch-export": torch_export,
        "torchscript": torchscript,
        "python": python,
    }
    named = {kind: path for kind, path in given.items() if path is not None}
    if len(named) != 1:
        raise UsageError(
            "You can import exactly one decoder at a time.",
            todo="Give one of --onnx, --torch-export, --torchscript and --python.",
        )
    ((kind, source),) = named.items()
    with progress_bar("trying the decoder"):
        made = import_decoder(
            source,
            kind,  # type: ignore[arg-type]
            latents,
            id_,
            shape=_shape(shape),
            distance=distance,
            limits=limits,
            title=title,
            dataset=dataset,
            trusted=trust,
            out=out,
        )
    if json_:
        say_json({"folder": str(made.folder), "card": made.card.to_json(), "notes": made.notes})
        return
    card = made.card
    size = " x ".join(map(str, card.shape or ()))
    say(f"id: {card.id} ({card.display} of {size}, {len(card.dimensions)} sliders)")
    for note in made.notes:
        say(note)
    say(f"model: {made.folder}")


def _shape(text: str | None) -> tuple[int, ...] | None:
    """Raises UsageError."""
    if text is None:
        return None
    sizes = text.lower().replace("×", "x").split("x")
    if not all(size.isdecimal() and 0 < int(size) < 10**6 for size in sizes) or len(sizes) > 3:
        raise UsageError(
            f"{text!r} is not a shape.",
            todo="Give rows x columns, such as 28x28, 64x64x3 with three colours, or the "
            "number of points of a series, such as 64.",
        )
    shape = tuple(map(int, sizes))
    return shape[:2] if len(shape) == 3 and shape[2] == 1 else shape


@models_app.command("import-tfjs")
def models_import_tfjs(source: Path, out: Path | None = None, id_: str | None = None) -> None:
    """Import a decoder that was published for TensorFlow.js.

    Example: labapp models import-tfjs models/mnist/ae5 --out my-models/mnist/published-ae5

    source DIR: The published folder, with config.json and decoder_web.
    --out DIR: The folder to write. It must not exist yet. Default: <id> in your models folder,
        where studies find it.
    --id: The model's id. Default: <data set>/published-<name of the folder>.
    """
    from labapp.models.representations import card as cards
    from labapp.models.representations.tfjs import import_package

    folder = import_package(source, out, id_)
    card = cards.read(folder)
    say(f"id: {card.id} ({card.architecture}, {len(card.dimensions)} sliders)")
    say(f"model: {folder}")


@models_app.command("evaluate")
def models_evaluate(
    model: completion.Model,
    data: DataFolder = None,
    no_metrics: bool = False,
    out: Path | None = None,
    json_: bool = False,
) -> None:
    """Compute the numbers on a model's card again, and all metrics if its data have true factors.

    Example: labapp models evaluate sinelines/vae

    --no-metrics: Compute only the card's numbers. The metrics take minutes.
    --out DIR: The folder to write: scores (JSON, CSV) and heat maps (SVG, PNG).
    """
    from labapp.models import catalog as models_catalog

    kind = models_catalog.kind_of(model)
    if out is not None and (no_metrics or kind != "dials"):
        raise UsageError(
            "--out needs metrics, but --no-metrics leaves them out.", todo="Leave --out out."
        )
    from labapp.models.metrics.evaluation import scores

    with scores.new_folder(out):
        if kind == "dials":
            result = _evaluate(_model(model), data, out, no_metrics=no_metrics, json_=json_)
        else:
            with progress_bar("computing the numbers of the card"):
                result, lines = _evaluate_other(kind, model, data)
            if not json_:
                say("\n".join(lines))
        if json_:
            say_json(result)
        if not result["agrees"]:
            raise CheckFailed(
                f"The computed numbers differ from those on the card of {result['model']}.",
                todo="Check that --data points to the files that it was trained on. If it "
                "does, get a fresh copy of the model.",
            )


@models_app.command("bench")
def models_bench(
    models: list[completion.Model] | None = None,
    all_: bool = False,
    n: int = 1000,
    device: str | None = None,
    json_: bool = False,
) -> None:
    """Measure how long a single decode takes.

    Example: labapp models bench sinelines/vae

    For all models on a graphics card: labapp models bench --all --device cuda

    models: Models (id or folder).
    --all: Measure every installed model that has sliders.
    --n (from 1): The number of decodes to measure.
    --device: The device: cuda, mps or cpu.
    """
    from labapp.models.representations import effects, package

    names = package.list_packages() if all_ else list(models or [])
    if not names or (all_ and models):
        raise UsageError(
            "No model was named.",
            safe="Nothing was timed.",
            todo="Name models, or add --all. `labapp models list` shows the models.",
        )
    results = []
    for name in names:
        try:
            with progress_bar(name):
                results.append(effects.bench(package.load_package(_model(name), device), n))
        except ModelError as error:
            if not all_:
                raise
            results.append({"model": name, "problem": error.what})
    if json_:
        say_json(results if all_ or len(results) > 1 else results[0])
        return
    for result in results:
        for key, value in result.items():
            say(f"{key:16} {value:.3f}" if isinstance(value, float) else f"{key:16} {value}")
        if len(results) > 1:
            say("")


def _evaluate(
    model: str | Path, data: Path | None, out: Path | None, *, no_metrics: bool, json_: bool
) -> dict[str, Any]:
    """A model with dials. `out` is there already, and empty."""
    from labapp.models.metrics.evaluation import scores
    from labapp.models.representations import measuring

    with progress_bar("computing the numbers of the card"):
        result = measuring.evaluate(model, data_folder=data)
    if not json_:
        say("\n".join(measuring.table(result)))
    # The metrics take minutes: not of a model that is not what it says it is.
    if result["agrees"] and not no_metrics:
        outcomes = _outcomes(model, data, out)
        if outcomes and not json_:
            scores.show_all(outcomes)
        result["metrics"] = [outcome.to_json() for outcome in outcomes]
    return result


def _evaluate_other(
    kind: str, model: str, data: Path | None
) -> tuple[dict[str, Any], Iterable[str]]:
    """A classifier or a concept model: its numbers, and the same for people."""
    if kind == "classifier":
        from labapp.models.explanations import evaluation

        result = evaluation.evaluate(model, data_folder=data)
        return result, evaluation.table(result)
    from labapp.models.concepts import package

    result = package.score(model, data_folder=data)
    return result, package.table(result)


def _outcomes(model: str | Path, data: Path | None, out: Path | None) -> list[MetricOutcome]:
    """What all metrics give, also written to `out`; nothing if they do not apply."""
    from labapp.models.metrics.evaluation.scores import (
        LEARNT_WITHOUT_CONCEPTS,
        compute_all,
        show_progress,
        without_labels,
        write,
    )
    from labapp.models.representations.measuring import load_labelled_encodings

    rows = load_labelled_encodings(model, data_folder=data)
    if rows is None:
        if out is not None:
            raise UsageError(
                f"{model} has no encodings and true factors to compare, so there is nothing to "
                "write.",
                todo="Leave --out out.",
            )
        return []
    # A model learnt its codes without concepts or a task, and its factors are measurements.
    with show_progress() as say:
        scores = compute_all(
            rows.codes,
            rows.factors,
            cut=True,
            settings=LEARNT_WITHOUT_CONCEPTS,
            names=without_labels(),
            say=say,
        )
    if out is not None:
        write(scores, rows.code_names, rows.factor_names, out)
    return scores


def _how_good(row: dict[str, Any]) -> str:
    """In brackets: the error of a model with dials, the accuracy of a classifier."""
    if error := row.get("held_out_error"):
        return f" (error {error:.2f})"
    if accuracy := row.get("test_accuracy"):
        return f" (accuracy {100 * accuracy:g} %)"
    return ""


def _model(model: str) -> str | Path:
    """A folder where there is one, also if its path looks like an id; else an id."""
    folder = Path(model)
    return folder if (folder / "model.yaml").is_file() else model
