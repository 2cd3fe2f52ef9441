"""Extras of this installation: which there are, which are installed, and adding one.

An extra is added to a package with its own interpreter, to a wheel and to a checkout alike, from
the package index or from a folder of wheels. Packages that are installed keep their versions.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distributions, requires, version
from pathlib import Path

from packaging.requirements import Requirement

from labapp.base.access import usual_rights
from labapp.base.errors import SetupError, UsageError
from labapp.base.installation import module_command, package_folder, require, start_command

Say = Callable[[str], None]


@dataclass(frozen=True)
class Extra:
    """One extra.

    Attributes
    ----------
    name : as it is added.
    purpose : what it is for.
    installed_mb : how large it is when installed on Linux without an NVIDIA card, in MB; with
        everything that no other part of labapp needs.
    """

    name: str
    purpose: str
    installed_mb: int

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """What it installs."""
        return tuple(_requirements(self.name))

    @property
    def missing(self) -> tuple[Requirement, ...]:
        """What of it is not installed, or in a version that does not fit."""
        return tuple(each for each in self.requirements if not _fits(each))


EXTRAS = (
    Extra("torch", "graphics cards, training, explanations, concept learners, some metrics", 900),
    Extra("import", "decoders and classifiers of your own from ONNX files", 60),
    Extra("cluster", "analyses and simulations on several computers", 15),
    Extra("lsl", "events for other devices of the lab", 5),
    Extra("whispercpp", "transcription by whisper.cpp", 15),
    Extra("whisper", "transcription by faster-whisper", 290),
    Extra("vosk", "transcription by Vosk", 30),
    Extra("video", "videos of participants", 105),
    Extra("all", "torch, import, cluster, lsl, whispercpp, video", 1100),
)


def extra_called(name: str) -> Extra:
    """An extra by its name. Raises UsageError if there is none."""
    for extra in EXTRAS:
        if extra.name == name:
            return extra
    raise UsageError(
        f"There is no extra {name}.",
        todo=f"Choose one of: {', '.join(extra.name for extra in EXTRAS)}.",
    )


def add(extra: Extra, folder: Path | None, say: Say) -> None:
    """Add an extra to this installation. folder: wheels to take it from; None for the network.
    Raises SetupError: this installation may not be changed, or pip could not do it; UsageError: the
    folder is not there."""
    _only_wheels(folder)
    if not extra.missing:
        say(f"{extra.name} is installed already. Nothing was changed.")
        return
    place = _place()
    _may_write(extra, place)
    wanted = ", ".join(map(str, extra.missing))
    say(f"Adding {extra.name} ({wanted}) to {place}, about {extra.installed_mb} MB.")
    source = [] if folder is None else ["--no-index", "--find-links", str(folder)]
    with tempfile.TemporaryDirectory(prefix="labapp-extras-") as made:
        pins = Path(made) / "installed.txt"
        pins.write_text("".join(f"{line}\n" for line in _installed()), "utf-8")
        options = ["--no-warn-script-location", "--constraint", str(pins), *source]
        done = _pip("install", *options, *map(str, extra.missing))
    importlib.invalidate_caches()
    if done or extra.missing:
        raise SetupError(
            f"{extra.name} could not be added; pip's own message is above.",
            safe="What was installed before is unchanged.",
            todo=(
                f"Check that {folder} contains wheels for everything above, for this operating "
                "system and version of Python."
                if folder
                else "Check the network. On a computer without one, add the extra from a "
                f"folder: {start_command()} extras download {extra.name} --to FOLDER on a "
                "computer with the same operating system and the same version of labapp, "
                f"then {start_command()} extras add {extra.name} --from FOLDER here."
            ),
        )
    added = ", ".join(f"{each.name} {version(each.name)}" for each in extra.requirements)
    say(f"{extra.name} is installed ({added}). Start labapp again if it is open.")


def download(extra: Extra, folder: Path, say: Say) -> None:
    """Put the wheels of an extra into a folder, for a computer without network that has the same
    system and the same labapp. Raises SetupError."""
    say(f"Downloading {extra.name} to {folder}.")
    with usual_rights():
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="labapp-extras-") as made:
        pins = Path(made) / "installed.txt"
        pins.write_text("".join(f"{line}\n" for line in _installed()), "utf-8")
        # Not `pip download`: what exists only as source is built here, not on the other computer.
        options = ["--constraint", str(pins), "--wheel-dir", str(folder)]
        done = _pip("wheel", *options, *map(str, extra.requirements))
    if done:
        raise SetupError(
            f"{extra.name} could not be downloaded; pip's own message is above.",
            todo="Check the network and the free space on the disk.",
        )
    for wheel in folder.glob("*.whl"):
        wheel.chmod(wheel.stat().st_mode | 0o444)  # pip lets only its own user read some of them
    say(f"On the other computer: labapp extras add {extra.name} --from {folder.name}")


def _requirements(extra: str) -> Iterator[Requirement]:
    for line in requires("labapp") or ():
        each = Requirement(line)
        if each.marker and each.marker.evaluate({"extra": extra}) and not each.marker.evaluate():
            if each.name == "labapp":
                for name in sorted(each.extras):
                    yield from _requirements(name)
            else:
                yield Requirement(f"{each.name}{each.specifier}")


def _fits(requirement: Requirement) -> bool:
    try:
        return requirement.specifier.contains(version(requirement.name), prereleases=True)
    except PackageNotFoundError:
        return False


def _installed() -> list[str]:
    """Every installed package at its version, so that none is replaced."""
    pinned = {each.metadata["Name"]: each.version for each in distributions()}
    return sorted(f"{name}=={number}" for name, number in pinned.items() if name != "labapp")


def _place() -> Path:
    return Path(sysconfig.get_path("purelib"))


def _only_wheels(folder: Path | None) -> None:
    if folder is not None and not (folder.is_dir() and any(folder.glob("*.whl"))):
        raise UsageError(
            f"{folder} is not a folder of wheels (files that end in .whl).",
            todo="Make one on a computer with a network connection: labapp extras download NAME "
            "--to FOLDER.",
        )


def _may_write(extra: Extra, place: Path) -> None:
    """Raises SetupError if this user may not change this installation, or pip is missing."""
    if not os.access(place, os.W_OK):
        command = f"{start_command()} extras add {extra.name}"
        alone = (
            f"Ask an administrator to run: sudo {command}. Or unpack the archive of labapp into a "
            "folder of your own, which needs no such rights, and add the extra there."
            if package_folder()
            else f"Ask the person who installed labapp to run: {command}. Or install labapp "
            "into a virtual environment of your own."
        )
        raise SetupError(
            f"You do not have permission to change this installation of labapp, in {place}.",
            todo=alone,
        )
    try:
        require("pip")
    except ModuleNotFoundError as error:
        raise SetupError(
            "pip, which installs packages, is missing from this installation of labapp.",
            todo=f"Install these with the program that installed labapp: "
            f"{' '.join(map(str, extra.missing))}",
        ) from error


def _pip(command: str, *arguments: str) -> int:
    """Run pip, which says what it does; returns its exit status. What it makes is for every user of
    the computer, as it is without labapp."""
    head = module_command("pip", "--disable-pip-version-check", "--no-input", command)
    with usual_rights():
        return subprocess.run([*head, *arguments], check=False).returncode
