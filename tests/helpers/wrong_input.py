"""Every command given each kind of bad input: what it names is missing, damaged, or there already.

A line for each command says how it is given rightly; `{session}` and its like are what it names.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labapp.base import resources
from labapp.base.errors import NOT_DONE, REFUSED, WRONG_USAGE
from labapp.cli.main import command_tree
from tests.helpers.journals import golden_session

COMMANDS = {
    "metrics": "mig --codes {codes} --factors {factors} --out {new}",
    "plan": "{study} --participants 2 --out {new}",
    "replay": "{session} --at 20 --still {new.png}",
    "transcribe": "{session} --model {speech}",
    "docs": "",
    "completion": "bash",
    "demo": "--out {new}",
    "deposit": "{session} --license CC0-1.0 --creator Curie,Marie --out {new}",
    "doctor": "",
    "run": "{study} --participant P01 --audio off --windowed",
    "moderate": "127.0.0.1:8731",
    "observe": "127.0.0.1:8731",
    "export": "{session} --out {new}",
    "analyze": "{session} --out {new} --ratings {ratings}",
    "simulate": "{study} --participants 1 --out {new}",
    "studies list": "",
    "studies show": "{study}",
    "studies check": "{study}",
    "studies diff": "calibration {study}",
    "studies new": "my-study --from {study} --out {new-study}",
    "studies texts": "{study}",
    "studies instruments": "",
    "studies consent": "{study} --out {new.pdf}",
    "studies preview": "{study} --out {new}",
    "studies schema": "",
    "sessions list": "",
    "sessions show": "{session}",
    "sessions verify": "{session}",
    "sessions recover": "{session}",
    "sessions exclude": "{session} --reason why",
    "sessions include": "{session}",
    "sessions move": "{session} --to study --reason why",
    "sessions tag": "{session} glasses",
    "sessions backup": "--to {images}",
    "sessions withdraw": "{session} --keep --yes",
    "sessions consent": "{session} --out {new.pdf}",
    "sessions resume": "{session} --audio off --windowed",
    "participants merge": "{answers} --by pid --study {records}",
    "code segment": "{session}",
    "code speakers": "{session} --by anna --map {map}",
    "code check": "{codebook}",
    "code schema": "",
    "code diff": "{codebook} {codebook}",
    "code history": "{session}",
    "code verify": "{session}",
    "code status": "{records}",
    "code assign": "{records} --raters anna,ben",
    "code done": "{session} --rater anna",
    "code lock": "{records}",
    "code adjudicate": "{records}",
    "code redact": "{session} 20 21 --by anna",
    "code pack": "{records} --rater anna --out {new.zip}",
    "code receive": "{pack} --study {records}",
    "code export": "{session} --rater anna --to eaf --out {new.eaf}",
    "code import": "{eaf} --session {session} --rater anna",
    "code codebook": "{records} --from {qdc}",
    "code open": "{session} --rater anna",
    "code agree": "{records} --out {new}",
    "code quotes": "{records} --out {new.md}",
    "code reel": "{records} --out {new.wav}",
    "videos add": "{session} {video} --offset 0",
    "videos align": "{session} video-1 --offset 0",
    "videos list": "{session}",
    "videos remove": "{session} video-1 --yes",
    "models list": "",
    "models show": "{model} --out {new.png}",
    "models title": "{own} Title",
    "models remove": "{own} --yes",
    "models train": "{recipe} --out {new}",
    "models import": "--onnx {onnx} --latents {codes} --id mine/decoder --out {new}",
    "models import-tfjs": "{tfjs} --out {new}",
    "models evaluate": "{model} --no-metrics",
    "models bench": "{model} --n 1",
    "concepts list": "",
    "concepts show": "{concepts}",
    "concepts train": "{recipe}",
    "concepts score": "{concepts}",
    "concepts intervene": "{concepts}",
    "concepts stimuli": "{concepts} --out {new}",
    "concepts import": "{description}",
    "stimuli list": "",
    "stimuli check": "{set}",
    "stimuli import": "{set}",
    "stimuli schema": "",
    "stimuli build": "birds-bagnet --model {classifier} --out {new}",
    "stimuli explain": "--onnx {onnx} --images {images} --classes cat,dog --size 8 --id my-set "
    "--out {new}",
    "stimuli sheet": "{pixels} --out {new}",
    "stimuli masks": "{pixels} --out {new}",
    "extras list": "",
    "extras add": "{extra}",
    "extras download": "{extra} --to wheels",
    "plugins list": "",
}
"""By the name of a command, its arguments."""
CHECKS = {"sessions verify", "studies check", "code check", "code verify", "stimuli check"}
"""Commands whose work is to find what is damaged."""
SESSION = "sub-P09_ses-1_20260102T030405Z"
NOISE = b"\x00\xffnoise: [\n" * 40


class Case(NamedTuple):
    """A command with one bad input, and the exit status that it is to have."""

    what: str
    words: tuple[str, ...]
    status: int


class Inputs:
    """What commands name, in a folder: right, missing and damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.absent = folder / "new"
        """A folder that is not there, in which commands are to write."""
        assets = resources.assets()
        (folder / "missing").mkdir()
        session = golden_session(folder / "data")
        rng = np.random.default_rng(1)
        for name in ("codes", "factors"):
            np.save(folder / f"{name}.npy", rng.integers(0, 3, (40, 3)).astype(float))
        (folder / "images").mkdir()
        self.right: dict[str, str] = {
            "session": str(session),
            "study": "quickstart",
            "records": str(session.parent),
            "codes": str(folder / "codes.npy"),
            "factors": str(folder / "factors.npy"),
            "codebook": str(assets / "codebooks" / "think-aloud.yaml"),
            "model": "sinelines/vae",
            "classifier": "birds/bagnet",
            "concepts": "concepts/dsprites-four-cbm",
            "set": str(assets / "stimuli" / "faces-unmasking"),
            "pixels": "faces-unmasking",
            "images": str(folder / "images"),
        }
        self.damaged: dict[str, str] = {
            "session": str(self._session()),
            "study": self._file("yaml"),
        }
        for kind, suffix in {
            "codes": "npy", "factors": "npy", "speech": "bin", "ratings": "csv", "map": "csv",
            "codebook": "yaml", "pack": "zip", "eaf": "eaf", "qdc": "qdc", "video": "mp4",
            "recipe": "yaml", "onnx": "onnx", "description": "yaml", "answers": "csv",
        }.items():  # fmt: skip
            self.damaged[kind] = self._file(suffix)
        for kind, card in {
            "model": "model.yaml", "classifier": "classifier.yaml", "concepts": "concepts.yaml",
            "set": "manifest.json", "pixels": "manifest.json", "tfjs": "config.json",
        }.items():  # fmt: skip
            self.damaged[kind] = str(self._file_in(f"damaged-{kind}", card))

    def _file(self, suffix: str) -> str:
        path = self.folder / f"damaged.{suffix}"
        path.write_bytes(NOISE)
        return str(path)

    def _file_in(self, name: str, card: str) -> Path:
        folder = self.folder / name
        folder.mkdir()
        (folder / card).write_bytes(NOISE)
        return folder

    def _session(self) -> Path:
        """A session whose journal is noise, in a folder of sessions of its own."""
        folder = self.folder / "other" / SESSION
        folder.mkdir(parents=True)
        (folder / "journal.sqlite").write_bytes(NOISE)
        return folder

    def _new(self, kind: str, *, taken: bool) -> str:
        """A place to write that is not there, or is."""
        suffix = kind.partition(".")[2]
        path = self.folder / "taken" if taken else self.absent / "place"
        path = path.with_suffix(f".{suffix}") if suffix else path
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        shutil.rmtree(self.absent, ignore_errors=True)
        if taken and suffix:
            path.write_bytes(b"taken")
        elif taken:
            path.mkdir()
            (path / "my-study.yaml").write_bytes(b"taken")
            (path / "report.html").write_bytes(b"taken")
        return str(path)

    def _filled(self, name: str, bad: str = "", how: str = "") -> tuple[str, ...]:
        def value(match: re.Match[str]) -> str:
            kind = match[1]
            if kind.startswith("new"):
                return self._new(kind, taken=kind == bad)
            if kind == bad and how == "damaged":
                return self.damaged[kind]
            if kind == bad:
                return "nothing/there" if kind in ("model", "concepts", "own") else "nothing"
            return self.right.get(kind) or self.damaged[kind]

        return (*name.split(), *shlex.split(re.sub(r"\{([\w.-]+)\}", value, COMMANDS[name])))

    def cases(self, name: str) -> Iterator[Case]:
        """A command with each bad input, one at a time."""
        yield Case("an unknown option", (*name.split(), "--nonsense"), WRONG_USAGE)
        command = _command(name)
        if any(each.required for each in command.params):
            yield Case("nothing", tuple(name.split()), WRONG_USAGE)
        kinds = dict.fromkeys(re.findall(r"\{([\w.-]+)\}", COMMANDS[name]))
        for kind in kinds:
            if kind.startswith("new"):
                yield Case(f"{kind} is there", self._filled(name, kind), REFUSED)
                continue
            yield Case(f"no {kind}", self._filled(name, kind, "missing"), WRONG_USAGE)
            if kind in self.damaged:
                status = NOT_DONE if name in CHECKS else REFUSED
                yield Case(f"damaged {kind}", self._filled(name, kind, "damaged"), status)


def _command(name: str) -> Any:
    command: Any = command_tree()
    for word in name.split():
        command = command.commands[word]
    return command


def names(command: Any = None, before: str = "") -> Iterator[str]:
    """The names of all commands that are no group."""
    command = command or command_tree()
    if not (commands := getattr(command, "commands", {})):
        yield before
    for name in commands:
        yield from names(commands[name], f"{before} {name}".strip())
