"""`labapp stimuli`: list, check, import and build stimulus sets, and look at them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labapp.base.console import say, say_json
from labapp.cli import completion
from labapp.cli.options import (
    Json,
    NewFolder,
    Out,
    TorchExport,
    TorchScript,
    Trust,
    as_check,
    progress_bar,
    say_either,
)

if TYPE_CHECKING:
    from labapp.models.stimuli.masked_pictures import Masking

stimuli_app = typer.Typer(
    help="Stimulus sets: list, check, import, schema, build, explain, sheet, masks. "
    "Example: labapp stimuli list",
    no_args_is_help=True,
)

Folder = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="A folder with manifest.json, or with set.json and tables."),
]


@stimuli_app.command("list")
def stimuli_list(json_: Json = False) -> None:
    """List the stimulus sets that studies can name, shipped ones and your own.

    Example: labapp stimuli list
    """
    from labapp.models.stimuli import library

    rows = library.list_sets()
    say_either(json_, rows, library.list_lines(rows), say)


@stimuli_app.command("check")
def stimuli_check(folder: Folder) -> None:
    """Check a stimulus set that was made elsewhere, and list every fault.

    It also shows how long the explanations are, compared with the published study.

    Example: labapp stimuli check my-set
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
    say(f"{folder}: in order ({len(result.manifest.photos)} photos).")
    for report in reports():
        if remark := report.about_stimuli(result.manifest):
            say(remark)


@stimuli_app.command("import")
def stimuli_import(folder: Folder) -> None:
    """Check a stimulus set and copy it into your own sets, where studies find it by its id.

    Example: labapp stimuli import my-set
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
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[SET]",
            help="A shipped set to build: birds-gradcam, birds-bagnet, "
            "birds-protopnet[-distinction], birds-prototree[-distinction] or "
            "faces-unmasking. Leave it out with --id.",
        ),
    ] = None,
    out: NewFolder = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed for choosing photos.")] = 1,
    model: Annotated[
        str | None,
        typer.Option("--model", help="The id or folder of a classifier of the same method."),
    ] = None,
    set_id: Annotated[
        str | None,
        typer.Option(
            "--id", help="The id of a new set of pixel scores from --model, instead of SET."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="The pictures on which the model was trained."),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", help="The title, with --id. Default: the id.")
    ] = None,
    each: Annotated[
        int | None,
        typer.Option(
            "--images-per-class",
            min=1,
            help="For pixel scores: the number of pictures per class. Default: 5.",
        ),
    ] = None,
    wrong: Annotated[
        int | None,
        typer.Option(
            "--wrong-per-class", min=0, help="How many of them are predicted wrongly. Default: 2."
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            help="The methods that score pixels. Default: gradient,guided_backprop,lrp.",
        ),
    ] = None,
) -> None:
    """Build a stimulus set from a trained classifier: photos with explanations.

    Example: labapp stimuli build birds-gradcam --seed 2 --out my-birds

    Example: labapp stimuli build --model my-faces/cnn --data my-images --id my-faces
    """
    from labapp.models.explanations.building import commands

    if set_id is None and name is not None and name not in commands.list_scored_sets():
        commands.refuse_scored_options(name, title=title, each=each, wrong=wrong, methods=methods)
        done = commands.build_with_progress(name, out, seed, model, data)
    else:
        done = commands.build_scored_with_progress(
            commands.find_scored_spec(
                name, set_id, model, title=title, each=each, wrong=wrong, methods=methods
            ),
            out,
            seed,
            data,
        )
    for line in done.lines():
        say(line)


@stimuli_app.command("explain")
def stimuli_explain(
    images: Annotated[
        Path,
        typer.Option(
            "--images",
            metavar="DIR",
            help="A folder that contains a folder of pictures for each class.",
        ),
    ],
    classes: Annotated[
        str,
        typer.Option(
            "--classes",
            help="The names of the classes in the order of the scores, such as cat,dog.",
        ),
    ],
    size: Annotated[
        int,
        typer.Option(
            "--size", min=4, help="The width and height that the classifier takes, in pixels."
        ),
    ],
    set_id: Annotated[str, typer.Option("--id", help="The id by which studies name the set.")],
    onnx: Annotated[
        Path | None, typer.Option("--onnx", metavar="FILE", help="A classifier in ONNX format.")
    ] = None,
    torch_export: TorchExport = None,
    torchscript: TorchScript = None,
    set_kind: Annotated[
        str,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="scores (of pixels, by which they are masked), or heatmaps (one for each option).",
        ),
    ] = "scores",
    grey: Annotated[
        bool, typer.Option("--grey", help="The classifier takes one channel instead of three.")
    ] = False,
    mean: Annotated[
        str,
        typer.Option(
            "--mean",
            help="The mean that is subtracted from levels 0 to 1: one number, or one per channel.",
        ),
    ] = "0",
    std: Annotated[
        str, typer.Option("--std", help="The standard deviation by which levels are then divided.")
    ] = "1",
    out: NewFolder = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed for choosing photos.")] = 1,
    title: Annotated[
        str | None, typer.Option("--title", help="The title. Default: the id.")
    ] = None,
    each: Annotated[
        int, typer.Option("--images-per-class", min=1, help="The number of pictures per class.")
    ] = 5,
    wrong: Annotated[
        int,
        typer.Option("--wrong-per-class", min=0, help="How many of them are predicted wrongly."),
    ] = 2,
    method: Annotated[
        str, typer.Option("--method", help="For heatmaps: occlusion or rise.")
    ] = "occlusion",
    sets: Annotated[
        int, typer.Option("--sets", min=1, help="For heatmaps: the number of sets.")
    ] = 1,
    right_in_set: Annotated[
        int,
        typer.Option(
            "--right-per-set",
            min=0,
            help="For heatmaps: photos per set that are predicted rightly.",
        ),
    ] = 5,
    wrong_in_set: Annotated[
        int,
        typer.Option(
            "--wrong-per-set",
            min=0,
            help="For heatmaps: photos per set that are predicted wrongly.",
        ),
    ] = 5,
    trust: Trust = False,
) -> None:
    """Make a set of pixel scores or heatmaps from your own classifier and pictures, using only its
    answers.

    Occlusion and RISE change what the classifier sees. Methods that need the network's layers
    cannot explain such a file.

    Example: labapp stimuli explain --onnx pets.onnx --images pets --classes cat,dog --size 64 --id
    my-pets
    """
    from labapp.base.errors import UsageError
    from labapp.models.explanations.building import commands
    from labapp.models.explanations.building.black_box import BlackBox
    from labapp.models.explanations.building.sets import SetSize

    given = {"onnx": onnx, "torch-export": torch_export, "torchscript": torchscript}
    named = {kind: path for kind, path in given.items() if path is not None}
    if len(named) != 1:
        raise UsageError(
            "Exactly one classifier can be explained at a time.",
            todo="Give one of --onnx, --torch-export and --torchscript.",
        )
    ((kind, file),) = named.items()
    numbers = {"--mean": mean, "--std": std}
    levels = {name: _levels(name, text, 1 if grey else 3) for name, text in numbers.items()}
    box = BlackBox(
        file,
        tuple(name.strip() for name in classes.split(",")),
        size,
        channels=1 if grey else 3,
        mean=levels["--mean"],
        std=levels["--std"],
        format=kind,  # type: ignore[arg-type]
        trusted=trust,
    )
    done = commands.explain_with_progress(
        box,
        images,
        set_kind,
        set_id=set_id,
        title=title,
        each=each,
        wrong=wrong,
        method=method,
        sizes=SetSize(right_in_set, wrong_in_set, sets),
        seed=seed,
        out=out,
    )
    for line in done.lines():
        say(line)


def _levels(option: str, text: str, channels: int) -> tuple[float, ...]:
    """Raises UsageError where these are not one number, or one a channel."""
    from labapp.base.errors import UsageError

    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    good = all(-1e6 < value < 1e6 and (value > 0 or option != "--std") for value in values)
    if len(values) not in (1, channels) or not good:
        raise UsageError(
            f"Found {option} {text}.",
            todo=f"Give one number, or {channels} with commas between them"
            + (", above 0." if option == "--std" else "."),
        )
    return values


Set = Annotated[
    str,
    typer.Argument(
        metavar="SET",
        help="A set of pixel scores (id or folder).",
        autocompletion=completion.stimulus_sets,
    ),
]
Smallest = Annotated[
    float, typer.Option("--smallest", help="The percentage of pixels that the first mask shows.")
]
Largest = Annotated[
    float, typer.Option("--largest", help="The percentage of pixels that the last mask shows.")
]
Count = Annotated[
    int, typer.Option("--count", min=1, help="The number of masks from the first to the last.")
]
Listed = Annotated[
    str | None,
    typer.Option("--masks", help="A list of percentages instead, as in a study: 4,12.5,60."),
]
Filled = Annotated[
    str, typer.Option("--fill", help="What masked pixels become: mean, black, grey or white.")
]
Signed = Annotated[str, typer.Option("--sign", help="Rank pixels by signed or absolute scores.")]


@stimuli_app.command("sheet")
def stimuli_sheet(
    name: Set,
    out: Out,
    smallest: Smallest = 5,
    largest: Largest = 60,
    count: Count = 10,
    listed: Listed = None,
    fill: Filled = "mean",
    sign: Signed = "signed",
) -> None:
    """Draw a set of pixel scores: its explanations, and masked pictures of every class and method.

    Example: labapp stimuli sheet faces-unmasking --out sheets
    """
    from labapp.models.explanations.building import sheet
    from labapp.models.stimuli import importing

    with progress_bar("drawing sheets"):
        paths = sheet.write(
            importing.load_any(name),
            _masking(smallest, largest, count, listed, fill, sign),
            out,
        )
    for path in paths:
        say(f"sheet: {path}")


@stimuli_app.command("masks")
def stimuli_masks(
    name: Set,
    out: Out,
    smallest: Smallest = 5,
    largest: Largest = 60,
    count: Count = 10,
    listed: Listed = None,
    fill: Filled = "mean",
    sign: Signed = "signed",
) -> None:
    """Write every masked picture of a set, and a table to fill in with your own model's answers.

    Example: labapp stimuli masks my-set --out masked
    """
    from labapp.models.stimuli import importing, masked_pictures

    masking = _masking(smallest, largest, count, listed, fill, sign)
    with progress_bar("masking pictures"):
        written = masked_pictures.write(importing.load_any(name), masking, out)
    say(f"pictures: {written} in {out}")
    say(f"table:    {out / masked_pictures.TABLE}, its column logits to be filled in")


def _masking(
    smallest: float, largest: float, count: int, listed: str | None, fill: str, sign: str
) -> Masking:
    """Raises UsageError where these are no percentages or do not ascend, or a fill or sign is not
    allowed."""
    from labapp.base.errors import UsageError
    from labapp.models.stimuli import masked_pictures

    if listed is not None:
        try:
            percents = masked_pictures.ascending([float(percent) for percent in listed.split(",")])
        except ValueError as error:
            raise UsageError(
                f"Found --masks {listed}.",
                todo="Name percentages of pixels shown above 0, up to 100, ascending, with a comma "
                "between them.",
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
            raise UsageError(f"{error}.", todo="Ask for fewer masks, or a wider range.") from error
    if fill not in masked_pictures.FILLS or sign not in masked_pictures.SIGNS:
        raise UsageError(
            f"Found --fill {fill} --sign {sign}.",
            todo=f"Fill is one of {', '.join(masked_pictures.FILLS)}; sign is one of "
            f"{', '.join(masked_pictures.SIGNS)}.",
        )
    return masked_pictures.Masking(
        percents, masked_pictures.FILLS[fill], masked_pictures.SIGNS[sign]
    )


def _warn(warnings: list[str]) -> None:
    for warning in warnings:
        say(f"warning: {warning}", err=True)
