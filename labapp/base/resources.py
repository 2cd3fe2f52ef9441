"""Where shipped assets and models are, and where data goes by default.

In a wheel, assets and models travel inside the package under `labapp/_data`; in a checkout they
are the folders at its top.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

import platformdirs

_PACKAGE = Path(__file__).resolve().parents[1]
_CHECKOUT = _PACKAGE.parent


def in_checkout() -> bool:
    """True when the package runs from a source checkout rather than an installed wheel."""
    return not (_PACKAGE / "_data").is_dir() and (_CHECKOUT / "pyproject.toml").is_file()


def _user_data() -> Path:
    return platformdirs.user_data_path("labapp", appauthor=False)


@cache
def _locate_shipped(name: str) -> Path:
    inside = _PACKAGE / "_data" / name
    return inside if inside.is_dir() else _CHECKOUT / name


def _read_folder_variable(variable: str) -> Path | None:
    """The folder that a variable of the environment names; None if it names none."""
    name = os.environ.get(variable)
    return Path(name) if name else None


def assets() -> Path:
    """Folder of studies, instruments, texts and icons."""
    return _locate_shipped("assets")


def documentation() -> Path:
    """Folder of the documentation as pages; it need not exist."""
    inside = _PACKAGE / "_data" / "documentation"
    return _CHECKOUT / "build" / "docs" if in_checkout() else inside


def documentation_texts() -> Path:
    """Folder of the documentation as Markdown; it need not exist."""
    return _locate_shipped("docs")


def models() -> Path:
    """Folder of the shipped model packages, `<dataset>/<name>/`."""
    return _locate_shipped("models")


@cache
def models_elsewhere() -> dict[str, str]:
    """The ids of the shipped models that have packages of their own, with the packages' names; none
    in a checkout, which has them all."""
    file = models() / "elsewhere.json"
    return dict(json.loads(file.read_text("utf-8"))) if file.is_file() else {}


def user_models() -> Path:
    """Folder of the packages that this user trained or imported; it need not exist.

    $LABAPP_MODELS, else in the user data folder, in a checkout too: only developers who
    ship models write to the shipped folder, and in an installed program perhaps nobody can.
    """
    return _read_folder_variable("LABAPP_MODELS") or _user_data() / "models"


def model_roots() -> tuple[Path, ...]:
    """The folders in which a model's id is looked up: the shipped one and the user's."""
    shipped, own = models(), user_models()
    return (shipped,) if own.resolve() == shipped.resolve() else (shipped, own)


def stimuli() -> Path:
    """Folder of the shipped stimulus sets, `<id>/`."""
    return assets() / "stimuli"


def user_stimuli() -> Path:
    """Folder of the stimulus sets that this user imported or built; it need not exist.

    $LABAPP_STIMULI, else in the user data folder.
    """
    return _read_folder_variable("LABAPP_STIMULI") or _user_data() / "stimuli"


def speech_models() -> Path:
    """Folder in which speech models are looked for; it need not exist.

    $LABAPP_SPEECH, else in the user data folder.
    """
    return _read_folder_variable("LABAPP_SPEECH") or _user_data() / "speech"


def cache_root() -> Path:
    """Folder of what can be made again at any time: $LABAPP_CACHE, else the user cache folder."""
    return _read_folder_variable("LABAPP_CACHE") or platformdirs.user_cache_path(
        "labapp", appauthor=False
    )


def settings_root() -> Path:
    """Folder of what the home remembers: $LABAPP_SETTINGS, else the user's settings folder."""
    return _read_folder_variable("LABAPP_SETTINGS") or Path(
        platformdirs.user_config_dir("labapp", appauthor=False)
    )


def log_root() -> Path:
    """Folder of the details of mistakes of labapp itself: $LABAPP_LOG, else the user log folder."""
    return _read_folder_variable("LABAPP_LOG") or platformdirs.user_log_path(
        "labapp", appauthor=False
    )


def data_root(option: Path | None = None) -> Path:
    """Data root: the option, else $LABAPP_DATA, else ./sessions in a checkout, else user data."""
    if option is not None:
        return option
    usual = _CHECKOUT if in_checkout() else _user_data()
    return _read_folder_variable("LABAPP_DATA") or usual / "sessions"


PILOT = "-pilot"
"""What the folder of trial runs is called behind the name of the data root."""


def pilot_root(data: Path) -> Path:
    """Where trial runs are kept, beside the data root: nothing that counts or analyses sessions
    there comes across them."""
    return data.absolute().with_name(f"{data.absolute().name}{PILOT}")


def twin_of(study: Path) -> Path:
    """Of the folder of a study's sessions, the one that holds its pilots, or the other way round:
    sessions are moved between the two."""
    root = study.absolute().parent
    if root.name.endswith(PILOT):
        return root.with_name(root.name.removesuffix(PILOT)) / study.name
    return pilot_root(root) / study.name


def private_root(option: Path | None = None) -> Path:
    """Where names and signatures are kept, apart from every session and never exported."""
    if option is not None:
        return option
    return _read_folder_variable("LABAPP_PRIVATE") or _user_data() / "private"
