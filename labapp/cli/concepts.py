"""`labapp concepts`: concept learners: list, show, train, score, intervene, stimuli, import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from labapp.base.console import say, say_json
from labapp.base.errors import CheckFailed, UsageError
from labapp.cli import completion
from labapp.cli.commands import make_group
from labapp.cli.options import progress_bar, say_either, show

concepts_app = make_group("concepts", "labapp concepts list")

OfficialFiles = Annotated[
    Path | None,
    typer.Option("--data", help="The folder with the official data files that a recipe names."),
]
DataFolder = Annotated[
    Path | None,
    typer.Option(
        "--data",
        exists=True,
        help="The folder with the official data files that a recipe names; for an imported "
        "model, its description file.",
    ),
]
ORDERS = ("fixed", "subsets", "wrong", "alone")


@concepts_app.command("list")
def concepts_list(json_: bool = False) -> None:
    """List concept models, and the recipes of those that are not trained.

    Example: labapp concepts list
    """
    from labapp.models.concepts import package

    rows = package.rows()
    wide = max((len(row["id"]) for row in rows), default=0)
    say_either(json_, rows, (f"{row['id']:{wide}}  {_state(row)}" for row in rows), say)


def _state(row: dict[str, Any]) -> str:
    if "problem" in row:
        return str(row["problem"])
    if not row["trained"]:
        return f"recipe   {row['title']}"
    known = {"classes": row["task"], "concepts": row["concepts"]}.items()
    shares = [f"{name} {100 * share:.1f} %" for name, share in known if share is not None]
    source = "shipped" if row["shipped"] else "own"
    size = f", size {row['size']}" if row["size"] else ""
    common = f"{row['ois_standardised']:.3f} in common coordinates"
    scores = f"OIS {row['ois']:.3f}, {common}, NIS {row['nis']:.3f}"
    return f"{source:7}  {row['title']}{size} ({', '.join([*shares, scores])})"


@concepts_app.command("show")
def concepts_show(model: completion.Model, json_: bool = False) -> None:
    """Show a concept model's card, or the recipe of one that is not trained.

    Example: labapp concepts show concepts/dsprites-four-cbm
    """
    import yaml

    from labapp.models.concepts import package

    values = package.show(model)
    text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True).rstrip()
    say_either(json_, values, [text], say)


@concepts_app.command("train")
def concepts_train(
    recipe: str,
    size: str | None = None,
    seed: int | None = None,
    out: Path | None = None,
    fresh: bool = False,
    data: OfficialFiles = None,
    threads: int = 1,
    json_: bool = False,
) -> None:
    """Train a concept learner, or all learners of a file, one after the other. Existing models
    stay as they are. To interrupt, press Ctrl+C; to continue, run the same command again.

    Size S takes seconds and is for tests. M takes minutes (seconds for tables). L is as published.

    Example: labapp concepts train concepts/toy0-cbm --size S --out my-models

    recipe: A recipe file, or the id of a shipped recipe.
    --size S|M|L: The size to use instead of the recipe's.
    --seed (from 0): The seed to use instead of the recipe's.
    --out: The folder for models. Default: your own.
    --fresh: Start again instead of continuing from a checkpoint.
    --threads (from 1): The number of processor threads.
    """
    from labapp.base import resources
    from labapp.models import catalog as models_catalog
    from labapp.models.concepts import recipe as recipes
    from labapp.models.concepts.recipe import SIZES

    if size is not None and size not in SIZES:
        raise UsageError(
            f"There is no size {size!r}.",
            safe="Nothing was trained.",
            todo=f"Give one of {', '.join(SIZES)}.",
        )
    chosen = [each.of(size, seed) for each in recipes.find(recipe)]
    folder_of = {each.id: (out or resources.user_models()) / each.id for each in chosen}
    present = [name for name, folder in folder_of.items() if len(chosen) > 1 and folder.exists()]
    folders = []
    for each in chosen:
        if each.id in present:
            say(f"there already: {folder_of[each.id]}", err=True)
            continue
        folder = models_catalog.train_concepts(
            each, out, data_folder=data, resume=not fresh, threads=threads
        )
        folders.append(str(folder))
        if not json_:
            say(f"model: {folder}")
    if json_:
        say_json({"folders": folders, "there": present})


@concepts_app.command("score")
def concepts_score(model: completion.Model, data: DataFolder = None, json_: bool = False) -> None:
    """Compute the numbers on a concept model's card again: accuracy, OIS, NIS.

    Example: labapp concepts score concepts/dsprites-four-cbm
    """
    from labapp.models.concepts import package

    with progress_bar("computing the numbers of the card"):
        result = package.score(model, data_folder=data)
    if json_:
        say_json(result)
    else:
        say("\n".join(package.table(result)))
    if not result["agrees"]:
        raise CheckFailed(
            f"The computed numbers differ from those on the card of {result['model']}.",
            todo="Check that --data points to the files that it was trained on. If it does, "
            "get a fresh copy of the model.",
        )


@concepts_app.command("intervene")
def concepts_intervene(
    model: completion.Model,
    order: str | None = None,
    auc: bool = False,
    data: DataFolder = None,
    json_: bool = False,
) -> None:
    """Compute how often the class is right after concepts are corrected (Zarlenga et al., AAAI
    2023, Figure 5).

    Example: labapp concepts intervene concepts/dsprites-four-cbm --order wrong

    --order fixed|subsets|wrong|alone: Show only one curve. fixed: the first 0 to k concepts.
        subsets: the mean over all choices of 0 to k concepts. wrong: only concepts that the model
        gets wrong. alone: each concept by itself.
    --auc: Report the mean area under the ROC curve of each class against the others, instead of
        accuracy.
    """
    from labapp.models.concepts import package

    if order is not None and order not in ORDERS:
        raise UsageError(
            f"There is no order {order!r}.",
            safe="Nothing was computed.",
            todo=f"Give one of {', '.join(ORDERS)}.",
        )
    with progress_bar("setting concepts"):
        result = package.measure_interventions(model, auc=auc, data_folder=data)
    asked = ORDERS if order is None else (order,)
    if json_:
        about = {name: value for name, value in result.items() if name not in ORDERS}
        say_json(about | {name: result[name] for name in asked})
        return
    what = "area under the ROC curve of classes" if auc else "classes right"
    say(f"{result['model']}: {what} of {result['rows']:,} test rows, in per cent")
    for name in asked:
        numbers = "  ".join(f"{100 * value:5.1f}" for value in result[name])
        say(f"{name:8} {numbers}")
    if "alone" in asked:
        say(f"alone, of: {', '.join(result['concepts'])}")


@concepts_app.command("stimuli")
def concepts_stimuli(
    model: completion.Model,
    out: Path | None = None,
    id_: str | None = None,
    items: str | None = None,
    seed: int = 0,
    size: int = 512,
    title: str | None = None,
    all_pictures: bool = False,
    data: DataFolder = None,
    json_: bool = False,
) -> None:
    """Build a stimulus set for concept repair: pictures with the model's answer in every state of
    its concepts.

    Example: labapp concepts stimuli concepts/dsprites-four-cbm --id my-sprites

    --out DIR: The folder to write. It must not exist yet. Default: among your own sets.
    --id: The id by which studies refer to the set. Default: from the model's id.
    --items TYPE=N,…: The number of pictures of each type: repair, control, trap, unrepairable,
        natural.
    --seed (from 0): The seed for choosing pictures.
    --size (64 to 1024): The width and height of the pictures in pixels.
    --title: The set's title. Default: from the model's title.
    --all-pictures: Choose from all test pictures, even if people cannot see a concept clearly.
    """
    from labapp.models.concepts import commands

    with progress_bar("choosing and drawing pictures"):
        built = commands.build_stimuli(
            model,
            out,
            id_,
            items=items,
            seed=seed,
            pixels=size,
            title=title,
            every=all_pictures,
            data_folder=data,
        )
    show(built, json_, say)


@concepts_app.command("import")
def concepts_import(
    description: Path, out: Path | None = None, trust: bool = False, json_: bool = False
) -> None:
    """Import your own concept model, and try it on its test pictures.

    A concept model is two files (ONNX, TorchScript or torch.export): one from pictures to concept
    codes, one from codes to class scores.

    Example: labapp concepts import my-model/description.yaml

    description FILE.yaml: A YAML file that names both files, the concepts, the classes and the test
        pictures.
    --out: The folder for models. Default: your own.
    --trust: Open TorchScript and torch.export files even if they cannot be sandboxed. Only for
        files that you made yourself.
    """
    from labapp.models.concepts import imported, package

    with progress_bar("trying the model"):
        folder = imported.import_model(description, out=out, trusted=trust)
    if json_:
        say_json(package.show(folder))
        return
    card = package.show(folder)
    say(f"id: {card['id']} ({card['imported']['pictures']} test pictures)")
    say(f"classes right: {100 * card['test']['task']:.1f} %")
    for name, share in card["test"]["each"].items():
        say(f"{name} right: {100 * share:.1f} %")
    for remark in card["imported"]["remarks"]:
        say(remark)
    say(f"model: {folder}")
