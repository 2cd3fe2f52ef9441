"""Options that several commands share, and how JSON is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

Data = Annotated[
    Path | None, typer.Option("--data", help="Data root. Default: $LABAPP_DATA or ./sessions.")
]
Private = Annotated[
    Path | None, typer.Option("--private", help="Folder of names and typed consent.")
]
Json = Annotated[bool, typer.Option("--json", help="One JSON value on standard output.")]
Out = Annotated[Path, typer.Option("--out", help="Folder to write; it must not exist.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Replaces the study's seed.")]
Audio = Annotated[
    str | None,
    typer.Option("--audio", metavar="DEVICE|off", help="Microphone by name, or off."),
]
Screen = Annotated[str | None, typer.Option("--screen", help="The participant's screen.")]
Windowed = Annotated[bool, typer.Option("--windowed", help="No full screen.")]
Simulate = Annotated[
    str | None, typer.Option("--simulate", metavar="STRATEGY", help="A simulated participant.")
]
Speed = Annotated[float, typer.Option("--speed", help="Session seconds per real second.")]


def show_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, default=str))
