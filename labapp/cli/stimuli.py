"""`labapp stimuli`: list, check, import and build stimulus sets, and look at them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from labapp.base.console import say, say_json
from labapp.cli import completion
from labapp.cli.commands import make_group
from labapp.cli.options import as_check, progress_bar, say_either

if TYPE_CHECKING:
    from labapp.models.stimuli.masked_pictures import Masking

stimuli_app = make_group("stimuli", "labapp stimuli list")


@stimuli_app.command("list")
def stimuli_list(json_: bool = False) -> None:
    """List the stimulus sets that studies can use, both shipped ones and your own.

    Example: labapp stimuli list
    """
    from labapp.models.stimuli import library

    rows = library.list_sets()
    say_either(json_, rows, library.list_lines(rows), say)


@stimuli_app.command("check")
def stimuli_check(folder: Path) -> None:
    """Check a stimulus set that was made elsewhere, and list every fault.

    It also shows how long the explanations are, compared with the published study.

    Example: labapp stimuli check my-set

    folder DIR: A folder with manifest.json, or with set.json and tables.
    """
    from labapp.analysis.task_report import reports
    from labapp.models.stimuli.importing import read_checked
    from labapp.models.stimuli.library import StimulusSet
    from labapp.study.words import set_faults

    with as_check(), progress_bar("checking"):
        result = read_checked(folder)
    assert result.manifest is not None
    words = [error.what for error in set_faults(StimulusSet(result.manifest, folder, ""))]
    _warn([*result.warnings, *words])
    say(f"{folder}: valid ({len(result.manifest.photos)} photos).")
    for report in reports():
        if remark := report.about_stimuli(result.manifest):
            say(remark)


@stimuli_app.command("import")
def stimuli_import(folder: Path) -> None:
    """Check a stimulus set and copy it into your own sets, where studies find it by its id.

    Example: labapp stimuli import my-set

    folder DIR: A folder with manifest.json, or with set.json and tables.
    """
    from labapp.models.stimuli.importing import import_set

    with progress_bar("checking"):
        target, result = import_set(folder)
    _warn(result.warnings)
    say(f"stimuli: {target}")


@stimuli_app.command("schema")
def stimuli_schema() -> None:
    """Print the JSON Schema of manifest.json.

    Example: labapp stimuli schema > manifest.schema.json
    """
    from labapp.study.authoring import schema_of

    say_json(schema_of("stimuli"))


@stimuli_app.command("build")
def stimuli_build(
    name: str | None = None,
    out: Path | None = None,
    seed: int = 1,
    model: str | None = None,
    id_: str | None = None,
    data: Path | None = None,
    title: str | None = None,
    images_per_class: int | None = None,
    wrong_per_class: int | None = None,
    methods: str | None = None,
) -> None:
    """Build a stimulus set from a trained classifier: photos with explanations.

    Example: labapp stimuli build birds-gradcam --seed 2 --out my-birds

    Example: labapp stimuli build --model my-faces/cnn --data my-images --id my-faces

    name [SET]: A shipped set to build: birds-gradcam, birds-bagnet, birds-protopnet[-distinction],
        birds-prototree[-distinction] or faces-unmasking. Leave it out with --id.
    --out DIR: The folder to write. It must not exist yet.
    --seed (from 0): The seed for choosing photos.
    --model: The id or folder of a classifier of the same method.
    --id: The id of a new set of pixel scores from --model, instead of SET.
    --data DIR: The pictures on which the model was trained.
    --title: The title, with --id. Default: the id.
    --images-per-class (from 1): For pixel scores: the number of pictures per class. Default: 5.
    --wrong-per-class (from 0): How many of them are predicted wrongly. Default: 2.
    --methods: The methods that score pixels. Default: gradient,guided_backprop,lrp.
    """
    from labapp.models.explanations.building import commands, sets

    if id_ is None and name is not None and name not in sets.SCORED_SPECS:
        commands.refuse_scored_options(
            name, title=title, each=images_per_class, wrong=wrong_per_class, methods=methods
        )
        done = commands.build_with_progress(name, out, seed, model, data)
    else:
        done = commands.build_scored_with_progress(
            commands.find_scored_spec(
                name,
                id_,
                model,
                title=title,
                each=images_per_class,
                wrong=wrong_per_class,
                methods=methods,
            ),
            out,
            seed,
            data,
        )
    for line in done.lines():
        say(line)


@stimuli_app.command("explain")
def stimuli_explain(
    images: Path,
    classes: str,
    size: int,
    id_: str,
    onnx: Path | None = None,
    torch_export: Path | None = None,
    torchscript: Path | None = None,
    kind: str = "scores",
    grey: bool = False,
    mean: str = "0",
    std: str = "1",
    out: Path | None = None,
    seed: int = 1,
    title: str | None = None,
    images_per_class: int = 5,
    wrong_per_class: int = 2,
    method: str = "occlusion",
    sets: int = 1,
    right_per_set: int = 5,
    wrong_per_set: int = 5,
    trust: bool = False,
) -> None:
    """Make a set of pixel scores or heatmaps from your own classifier and pictures, using only the
    classifier's answers.

    Occlusion and RISE change what the classifier sees. Methods that need the network's layers
    cannot be used with such a file.

    Example: labapp stimuli explain --onnx pets.onnx --images pets --classes cat,dog --size 64 --id
    my-pets

    --images DIR: A folder that contains a folder of pictures for each class.
    --classes: The names of the classes in the order of the scores, such as cat,dog.
    --size (from 4): The width and height that the classifier takes, in pixels.
    --id: The id by which studies refer to the set.
    --onnx FILE: A classifier in ONNX format.
    --kind KIND: scores (of pixels, by which they are masked), or heatmaps (one for each option).
    --grey: The classifier takes one channel instead of three.
    --mean: The mean that is subtracted from levels 0 to 1: one number, or one per channel.
    --std: The standard deviation by which levels are then divided.
    --out DIR: The folder to write. It must not exist yet.
    --seed (from 0): The seed for choosing photos.
    --title: The title. Default: the id.
    --images-per-class (from 1): The number of pictures per class.
    --wrong-per-class (from 0): How many of them are predicted wrongly.
    --method: For heatmaps: occlusion or rise.
    --sets (from 1): For heatmaps: the number of sets.
    --right-per-set (from 0): For heatmaps: photos per set that are predicted correctly.
    --wrong-per-set (from 0): For heatmaps: photos per set that are predicted wrongly.
    """
    from labapp.base.errors import UsageError
    from labapp.models.explanations.building import commands
    from labapp.models.explanations.building.black_box import BlackBox
    from labapp.models.explanations.building.sets import SetSize

    given = {"onnx": onnx, "torch-export": torch_export, "torchscript": torchscript}
    named = {form: path for form, path in given.items() if path is not None}
    if len(named) != 1:
        raise UsageError(
            "Exactly one classifier can be explained at a time.",
            todo="Give one of --onnx, --torch-export and --torchscript.",
        )
    ((form, file),) = named.items()
    numbers = {"--mean": mean, "--std": std}
    levels = {name: _levels(name, text, 1 if grey else 3) for name, text in numbers.items()}
    box = BlackBox(
        file,
        tuple(name.strip() for name in classes.split(",")),
        size,
        channels=1 if grey else 3,
        mean=levels["--mean"],
        std=levels["--std"],
        format=form,  # type: ignore[arg-type]
        trusted=trust,
    )
    done = commands.explain_with_progress(
        box,
        images,
        kind,
        set_id=id_,
        title=title,
        each=images_per_class,
        wrong=wrong_per_class,
        method=method,
        sizes=SetSize(right_per_set, wrong_per_set, sets),
        seed=seed,
        out=out,
    )
    for line in done.lines():
        say(line)


def _levels(option: str, text: str, channels: int) -> tuple[float, ...]:
    """Raises UsageError if these are not one number, or one per channel."""
    from labapp.base.errors import UsageError

    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    good = all(-1e6 < value < 1e6 and (value > 0 or option != "--std") for value in values)
    if len(values) not in (1, channels) or not good:
        raise UsageError(
            f"Found {option} {text}.",
            todo=f"Give one number, or {channels} separated by commas"
            + (", above 0." if option == "--std" else "."),
        )
    return values


@stimuli_app.command("sheet")
def stimuli_sheet(
    name: completion.StimulusSet,
    out: Path,
    smallest: float = 5,
    largest: float = 60,
    count: int = 10,
    masks: str | None = None,
    fill: str = "mean",
    sign: str = "signed",
) -> None:
    """Draw the explanations of a set of pixel scores, and masked pictures of every class and
    method.

    Example: labapp stimuli sheet faces-unmasking --out sheets

    name SET: A set of pixel scores (id or folder).
    """
    from labapp.models.explanations.building import sheet
    from labapp.models.stimuli import importing

    with progress_bar("drawing sheets"):
        paths = sheet.write(
            importing.load_any(name), _masking(smallest, largest, count, masks, fill, sign), out
        )
    for path in paths:
        say(f"sheet: {path}")


@stimuli_app.command("masks")
def stimuli_masks(
    name: completion.StimulusSet,
    out: Path,
    smallest: float = 5,
    largest: float = 60,
    count: int = 10,
    masks: str | None = None,
    fill: str = "mean",
    sign: str = "signed",
) -> None:
    """Write every masked picture of a set, and a table to fill in with your own model's answers.

    Example: labapp stimuli masks my-set --out masked

    name SET: A set of pixel scores (id or folder).
    """
    from labapp.models.stimuli import importing, masked_pictures

    masking = _masking(smallest, largest, count, masks, fill, sign)
    with progress_bar("masking pictures"):
        written = masked_pictures.write(importing.load_any(name), masking, out)
    say(f"pictures: {written} in {out}")
    say(f"table:    {out / masked_pictures.TABLE}; fill in its column logits")


def _masking(
    smallest: float, largest: float, count: int, listed: str | None, fill: str, sign: str
) -> Masking:
    """Raises UsageError if these are no percentages or do not ascend, or a fill or sign is not
    allowed."""
    from labapp.base.errors import UsageError
    from labapp.models.stimuli import masked_pictures

    if listed is not None:
        try:
            percents = masked_pictures.ascending([float(percent) for percent in listed.split(",")])
        except ValueError as error:
            raise UsageError(
                f"Found --masks {listed}.",
                todo="Give percentages of the pixels shown, above 0 and up to 100, in "
                "ascending order and separated by commas.",
            ) from error
    elif not 0 < smallest <= largest <= 100:
        raise UsageError(
            f"Found --smallest {smallest:g} --largest {largest:g}.",
            todo="Give percentages of pixels above 0 and up to 100, the smallest first.",
        )
    else:
        try:
            percents = masked_pictures.sizes(smallest, largest, count)
        except ValueError as error:
            raise UsageError(f"{error}.", todo="Choose fewer masks or a wider range.") from error
    if fill not in masked_pictures.FILLS or sign not in masked_pictures.SIGNS:
        raise UsageError(
            f"Found --fill {fill} --sign {sign}.",
            todo=f"Fill must be one of {', '.join(masked_pictures.FILLS)}; sign must be one of "
            f"{', '.join(masked_pictures.SIGNS)}.",
        )
    return masked_pictures.Masking(
        percents, masked_pictures.FILLS[fill], masked_pictures.SIGNS[sign]
    )


def _warn(warnings: list[str]) -> None:
    for warning in warnings:
        say(f"warning: {warning}", err=True)
