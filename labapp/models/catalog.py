"""Models of every kind for `labapp models`: listed and shown as plain values for JSON, and
trained."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from labapp.base import resources
from labapp.base.errors import ModelError, UsageError
from labapp.base.progress import lines
from labapp.models.concepts import card as concept_cards
from labapp.models.concepts import package as concept_catalogue
from labapp.models.concepts import recipe as concept_recipes
from labapp.models.concepts.recipe import ConceptRecipe
from labapp.models.explanations import data as classifier_recipes
from labapp.models.explanations import package as classifier_cards
from labapp.models.representations import card as cards
from labapp.models.representations import package, python_backend, recipe

if TYPE_CHECKING:
    from rich.console import Console

    from labapp.models.training.loop import Progress


def models(root: Path | None = None) -> list[dict[str, Any]]:
    """Every package under `root`, by default the shipped ones and the user's, by id.

    Returns
    -------
    A row for each package: id, source ("shipped" or "own"), folder, title, dataset. Models with
    dials also have architecture, backend, dimensions and held_out_error (None if it was not
    measured); classifiers have kind ("classifier"), method and test_accuracy; concept models have
    kind ("concepts"), learner and test_accuracy. A package that is
    refused has the reason under "problem" instead of what its card says; if two packages share an
    id, the row has no source and no folder either.
    """
    rows = [
        *_rows(cards.CARD, {}, _with_dials, root),
        *_rows(classifier_cards.CARD, {"kind": "classifier"}, _classifier, root),
        *_rows(concept_cards.CARD, {"kind": "concepts"}, _concepts, root),
    ]
    return sorted(rows, key=lambda row: str(row["id"]))


def _rows(
    card: str, kind: dict[str, Any], describe: Callable[[Path], dict[str, Any]], root: Path | None
) -> list[dict[str, Any]]:
    """The packages of one kind, whose cards are files called `card`."""
    rows: list[dict[str, Any]] = []
    for name in package.list_packages(root, card=card):
        row: dict[str, Any] = {"id": name, **kind}
        rows.append(row)
        try:
            folder = package.find(name, root, card=card)
            shipped = folder.is_relative_to(resources.models())
            row |= {"source": "shipped" if shipped else "own", "folder": str(folder)}
            row |= describe(folder)
        except ModelError as error:
            row["problem"] = error.what
    return rows


def _with_dials(folder: Path) -> dict[str, Any]:
    card = cards.read(folder)
    if card.backend == "python":
        python_backend.require(card)
    return {
        "title": card.title,
        "dataset": card.dataset,
        "architecture": card.architecture,
        "backend": card.backend,
        "dimensions": len(card.dimensions),
        "held_out_error": card.held_out_error and card.held_out_error.as_published,
    }


def _classifier(folder: Path) -> dict[str, Any]:
    card = classifier_cards.read(folder)
    return {
        "title": cards.title_of(folder) or card.recipe.title,
        "dataset": card.recipe.data.dataset,
        "method": card.recipe.method.name,
        "test_accuracy": card.test.accuracy,
    }


def _concepts(folder: Path) -> dict[str, Any]:
    card = concept_cards.read(folder)
    return {
        "title": cards.title_of(folder) or card.title,
        "dataset": card.dataset,
        "learner": card.learner,
        "test_accuracy": card.test.task,
    }


def kind_of(
    model: str | Path, root: Path | None = None
) -> Literal["dials", "classifier", "concepts"]:
    """What kind of model an id or folder is; "dials" also if there is no such package."""
    for card, kind in _KINDS.items():
        there = package.list_packages(root, card=card)
        if (Path(model) / card).is_file() or str(model) in there:
            return kind
    return "dials"


_KINDS: dict[str, Literal["classifier", "concepts"]] = {
    classifier_cards.CARD: "classifier",
    concept_cards.CARD: "concepts",
}


def show(model: str | Path, root: Path | None = None) -> dict[str, Any]:
    """The model's card as plain values, and the package's folder. Raises ModelError."""
    kind = kind_of(model, root)
    if kind == "concepts":
        return concept_catalogue.show(model, root)
    if kind == "classifier":
        folder = package.find(model, root, card=classifier_cards.CARD)
        card = classifier_cards.read(folder).model_dump(mode="json", exclude_none=True)
        return {"id": card["recipe"]["id"], **card, "folder": str(folder)}
    folder = package.find(model, root)
    return {**cards.read(folder).to_json(), "folder": str(folder)}


def train(
    path: Path,
    out: Path | None = None,
    *,
    device: str | None = None,
    data_folder: Path | None = None,
    resume: bool = True,
    threads: int = 1,
    console: Console | None = None,
) -> Path:
    """Train a recipe of any kind and show a progress bar in the terminal; see `train` of
    `representations.training`, `explanations.training` and `concepts.training`.

    Interrupted (Ctrl+C), it leaves its last checkpoint, and the same call goes on from there.
    Raises UsageError: a device other than the CPU is named for a classifier or a concept learner,
    or the file has several recipes of concept learners; ModelError, DatasetError: the recipe cannot
    be trained.
    """
    given: dict[str, Any] = {"data_folder": data_folder, "resume": resume, "threads": threads}
    if concept_recipes.is_concept_recipe(path):
        _refuse_device(device, "Concept learners")
        several = concept_recipes.read(path)
        if len(several) > 1:
            raise UsageError(
                f"{path} has {len(several)} recipes, but only one model can be trained at a time.",
                safe="Nothing was trained.",
                todo="`labapp concepts train` trains all of them, or one by its id.",
            )
        return train_concepts(several[0], out, console=console, **given)
    if not classifier_recipes.is_classifier_recipe(path):
        from labapp.models.representations import training

        name = recipe.read(path).id  # a recipe that is refused shows no bar
        with progress_bar(name, console) as show_progress:
            return training.train(path, out=out, device=device, progress=show_progress, **given)
    _refuse_device(device, "Classifiers")
    from labapp.models.explanations import classifier as classifiers

    name = classifier_recipes.read(path).id
    with progress_bar(name, console) as show_progress:
        return classifiers.train(path, out=out, progress=show_progress, **given)


def _refuse_device(device: str | None, what: str) -> None:
    """Raises UsageError for another device than the CPU."""
    if device not in (None, "cpu"):
        raise UsageError(
            f"{what} are trained on the CPU, not on {device}.",
            safe="Nothing was trained.",
            todo="Leave --device out.",
        )


def train_concepts(
    recipe: ConceptRecipe,
    out: Path | None = None,
    *,
    data_folder: Path | None = None,
    resume: bool = True,
    threads: int = 1,
    console: Console | None = None,
) -> Path:
    """As `train`, of one recipe of a concept learner."""
    from labapp.models.concepts import training

    with progress_bar(recipe.id, console) as show_progress:
        return training.train(
            recipe,
            out=out,
            data_folder=data_folder,
            resume=resume,
            progress=show_progress,
            threads=threads,
        )


@contextmanager
def progress_bar(name: str, console: Console | None = None) -> Iterator[Callable[[Progress], None]]:
    """A bar for the training of the model `name`, by default on standard error: how far it is, the
    time left and the losses; in a file or a pipe a line every ten seconds. Gives the callback that
    shows progress."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%  {task.fields[phase]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[remaining]}  {task.fields[losses]}"),
    )
    console = console or Console(stderr=True)
    if not console.is_interactive:
        with lines(f"{name}: making ready") as tell:
            yield lambda progress: tell(
                progress.step / progress.steps if progress.steps else None,
                f"{name}: {progress.phase}, {_remaining(progress)}  {_losses(progress)}",
            )
        return
    with Bar(*columns, console=console) as bar:
        task = bar.add_task(name, total=None, phase="making ready", remaining="", losses="")

        def show_progress(progress: Progress) -> None:
            bar.update(
                task,
                total=progress.steps,
                completed=progress.step,
                phase=progress.phase,
                remaining=_remaining(progress),
                losses=_losses(progress),
            )

        yield show_progress


def _losses(progress: Progress) -> str:
    return "  ".join(f"{name} {value:.3f}" for name, value in progress.losses.items())


def _remaining(progress: Progress) -> str:
    """The time left; after the last step, what still takes seconds to minutes."""
    if progress.step == progress.steps:
        return "measuring the model"
    minutes, rest = divmod(round(progress.remaining_s), 60)
    return f"{minutes}:{rest:02d} left"
