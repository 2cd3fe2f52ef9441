"""What a package contains: licence texts, a bill of materials, and a description of itself."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LICENCE = re.compile(r"(LICEN[CS]E|COPYING|NOTICE|AUTHORS|COPYRIGHT)", re.IGNORECASE)
REFUSED = re.compile(r"\bA?GPL", re.IGNORECASE)
OFTEN = ("LGPL", " OR ", "MPL", "exception")
WITHOUT_TEXT = {
    "flatbuffers": "Apache-2.0.txt",
    "labapp-models-concepts": "MIT.txt",
    "labapp-models-mnist": "MIT.txt",
    "PySide6_Essentials": "QT.txt",
    "shiboken6": "QT.txt",
}
"""Distributions whose wheels hold no text of their licence, and where it is among the licences."""


class PackageError(Exception):
    """Why no package can be made."""


@dataclass(frozen=True)
class Library:
    """A library that is taken from the system.

    Attributes
    ----------
    path : where it was taken from.
    package, version : Debian's, empty where no package owns it.
    """

    path: Path
    package: str
    version: str


def owner(path: Path) -> tuple[str, str]:
    """The Debian package that a file belongs to, and its version; empty where there is none."""
    if shutil.which("dpkg-query") is None:
        return "", ""
    # Before and after /lib became a link to /usr/lib.
    for name in (path, Path(str(path).removeprefix("/usr"))):
        done = subprocess.run(["dpkg-query", "-S", str(name)], capture_output=True, text=True)
        if done.returncode == 0:
            package = done.stdout.partition(": ")[0].partition(",")[0]
            version = subprocess.run(
                ["dpkg-query", "-W", "-f=${Version}", package],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            return package.partition(":")[0], version.stdout
    return "", ""


def licence_of(distribution: Distribution) -> str:
    """What a distribution's metadata says: an SPDX expression, a classifier, or a name."""
    metadata = distribution.metadata
    if expression := metadata.get("License-Expression"):
        return expression
    classifiers = [
        line.rpartition(" :: ")[2]
        for line in metadata.get_all("Classifier") or ()
        if line.startswith("License :: ") and not line.endswith("OSI Approved")
    ]
    name = (metadata.get("License") or "").strip().partition("\n")[0]
    return " OR ".join(classifiers) or name


def licence_texts(distribution: Distribution) -> Iterator[Path]:
    """The files of licences that a distribution brings."""
    for file in distribution.files or ():
        if LICENCE.match(file.name) and not file.name.endswith((".py", ".pyc")):
            path = Path(str(distribution.locate_file(file)))
            if path.is_file():
                yield path


def installed(site: Path) -> list[Distribution]:
    return sorted(distributions(path=[str(site)]), key=lambda each: each.metadata["Name"].lower())


def write_licences(folder: Path, site: Path, standard: Path, libraries: Sequence[Library]) -> None:
    """Every licence text of what is shipped, a folder each.

    Raises PackageError where a distribution has none, or one that may not be shipped.
    """
    for each in installed(site):
        name, licence = each.metadata["Name"], licence_of(each)
        if REFUSED.search(licence) and not any(word in licence for word in OFTEN):
            raise PackageError(f"{name} is under {licence}, which may not be shipped.")
        inside = folder / f"{name}-{each.version}"
        inside.mkdir(parents=True)
        texts = list(licence_texts(each))
        for number, text in enumerate(texts):
            taken = (inside / text.name).exists()
            shutil.copy(text, inside / (f"{number}-{text.name}" if taken else text.name))
        if not texts:
            if name not in WITHOUT_TEXT:
                raise PackageError(f"{name} ({licence}) brings no licence text.")
            (inside / "LICENCE.txt").write_text(f"See ../{WITHOUT_TEXT[name]}\n", "utf-8")
    for text in (HERE / "licences").iterdir():
        shutil.copy(text, folder / text.name)
    shutil.copy(HERE.parents[1] / "LICENSE", folder / "MIT.txt")
    (folder / "python").mkdir()
    shutil.copy(standard / "LICENSE.txt", folder / "python" / "LICENSE.txt")
    for library in libraries:
        text = Path("/usr/share/doc") / library.package / "copyright"
        if not library.package or not text.is_file():
            raise PackageError(f"No licence of {library.path} is known.")
        (folder / "system").mkdir(exist_ok=True)
        shutil.copy(text, folder / "system" / f"{library.package}.txt")


def bill_of_materials(
    version: str, python: str, site: Path, libraries: Sequence[Library]
) -> dict[str, Any]:
    """Everything that is shipped, as a CycloneDX document (https://cyclonedx.org, 1.6)."""
    components = [
        {
            "type": "application",
            "name": "CPython",
            "version": python,
            "licenses": [{"license": {"id": "PSF-2.0"}}],
            "purl": f"pkg:generic/cpython@{python}",
        }
    ]
    for each in installed(site):
        name = re.sub(r"[-_.]+", "-", each.metadata["Name"]).lower()
        components.append(
            {
                "type": "library",
                "name": each.metadata["Name"],
                "version": each.version,
                "licenses": [{"license": {"name": licence_of(each)}}],
                "purl": f"pkg:pypi/{name}@{each.version}",
            }
        )
    for package, release in sorted({(each.package, each.version) for each in libraries}):
        components.append(
            {
                "type": "library",
                "name": package,
                "version": release,
                "licenses": [{"license": {"name": f"see licences/system/{package}.txt"}}],
                "purl": f"pkg:deb/debian/{package}@{release}?arch=amd64",
            }
        )
    for component in components:
        component["bom-ref"] = component["purl"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "labapp", "version": version}},
        "components": components,
    }


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", "utf-8")


def filled(name: str, values: dict[str, str]) -> str:
    """One of the texts of this folder, with its places filled in."""
    text = (HERE / name).read_text("utf-8")
    for place, value in values.items():
        text = text.replace(f"@{place}@", value)
    return text
