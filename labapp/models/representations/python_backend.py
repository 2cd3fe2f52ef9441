"""Decoders that are a function of a Python package, installed where the session runs.

The package is no part of the model: its card names the function, the version and the hash of the
package's files, and a session refuses another. What the card names is looked up among installed
packages and imported only if the files are those of the card, so that a model from elsewhere
runs nothing but what was put here before.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import platform
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from labapp.base.errors import ModelError
from labapp.base.reading import files as reading
from labapp.models.datasets.split import Float32
from labapp.models.representations.card import ModelCard
from labapp.models.representations.decoders import Forward
from labapp.models.representations.importing import memory
from labapp.models.representations.importing.graph import OutputLayout, layout

CLOSE = 1e-4
"""Most that a picture may differ from that of the import, of values from 0 to 1."""
LARGEST = 512 * reading.MIB
"""Bytes of a package's files, at most."""
_SAFE = "No model was loaded."


@dataclass(frozen=True, slots=True)
class Code:
    """A function and the package that it is in, as a card states them.

    Attributes
    ----------
    function : `package:function`.
    package : of the distribution where there is one, else of the module.
    version : of the distribution; "none" of files that are none.
    file : the package's folder or file, without the folder it lies in.
    sha256 : of all its files.
    path : where it lies here.
    """

    function: str
    package: str
    version: str
    file: str
    sha256: str
    path: Path

    @property
    def described(self) -> dict[str, str]:
        return {"function": self.function, "package": self.package, "version": self.version}


def locate(function: str) -> Code:
    """The installed package of `package:function`, found without running any of it. Raises
    ModelError: it is no such name, or there is no such package, or it belongs to Python."""
    module, colon, name = function.partition(":")
    if not (colon and _is_dotted_name(module) and _is_dotted_name(name)):
        raise ModelError(
            f"{function!r} does not name a function of a package.",
            safe=_SAFE,
            todo="Write package:function, such as my_decoders:decode, or my_decoders.pca:decode.",
        )
    top = module.partition(".")[0]
    try:
        spec = None if top in sys.stdlib_module_names else find_spec(top)
    except (ImportError, ValueError):
        spec = None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    origin = spec.origin if spec is not None else None
    if not places and not (origin and origin.endswith(".py")):
        belongs = " It is Python's own." if top in sys.stdlib_module_names else ""
        raise ModelError(
            f"Python cannot find a package {top} here.{belongs}",
            safe=_SAFE,
            todo="Install it where labapp is installed (pip install), or put its folder into "
            "the environment variable PYTHONPATH.",
        )
    path = Path(places[0] if places else str(origin))
    distributions = _distributions().get(top, [])
    package = distributions[0] if distributions else top
    version = metadata.version(package) if distributions else "none"
    return Code(function, package, version, path.name, _digest(path), path)


@cache
def _distributions() -> Mapping[str, list[str]]:
    """The installed distributions of each package; to look takes a second."""
    return metadata.packages_distributions()


def versions_used(code: Code, before: Iterable[str]) -> dict[str, str]:
    """The versions of Python and of the packages that a function uses: those that the files of its
    package import, and those that were loaded with it, as for what it unpickles. Of the latter
    none that another one requires.

    Parameters
    ----------
    before : names of the modules that were loaded before it was.

    Returns
    -------
    dict : by package its version; "none" of files that are not installed as a package.
    """
    own = code.function.partition(":")[0].partition(".")[0]
    distributions = _distributions()
    written = set(_imports(code.path)) - {own}
    imported = {name for top in written for name in distributions.get(top, ())}
    files = {top for top in written if top not in distributions and _is_here(top)}
    new = {module.partition(".")[0] for module in set(sys.modules).difference(before)} - {own}
    loaded = {name for top in new for name in distributions.get(top, ())}
    required = {need for name in imported | loaded for need in _requirements(name)}
    names = imported | {name for name in loaded if _normal(name) not in required}
    versions = {name: metadata.version(name) for name in names} | dict.fromkeys(files, "none")
    return {"python": platform.python_version()} | dict(sorted(versions.items()))


def _imports(path: Path) -> Iterator[str]:
    """The top packages that Python files import, but Python's own."""
    for file in (path,) if path.is_file() else path.rglob("*.py"):
        try:
            tree = ast.parse(reading.content(file, LARGEST))
        except (SyntaxError, ValueError):
            continue  # of another version of Python; what is used of it was loaded
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            else:
                continue
            yield from {name.partition(".")[0] for name in names} - sys.stdlib_module_names


def _is_here(top: str) -> bool:
    try:
        return find_spec(top) is not None
    except (ImportError, ValueError):
        return False


def _requirements(distribution: str) -> Iterator[str]:
    for text in metadata.requires(distribution) or ():
        name = re.match(r"[\w.-]+", text)
        if name and "extra ==" not in text:
            yield _normal(name[0])


def _normal(name: str) -> str:
    """The name of a package as all ways to write it compare."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _is_dotted_name(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _digest(path: Path) -> str:
    """SHA-256 over the files of a package, their names and their lengths."""
    if path.is_file():
        return hashlib.sha256(reading.content(path, LARGEST)).hexdigest()
    total, size = hashlib.sha256(), 0
    inside = (file for file in path.rglob("*") if "__pycache__" not in file.parts)
    for file in sorted(file for file in inside if file.is_file()):
        content = reading.content(file, LARGEST)
        size += len(content)
        if size > LARGEST:
            raise ModelError(
                f"The package {path.name} has more than {LARGEST // reading.MIB} MiB of files.",
                safe=_SAFE,
                todo="Put the decoder into a package of its own that contains only its files.",
            )
        total.update(f"{file.relative_to(path).as_posix()}\n{len(content)}\n".encode() + content)
    return total.hexdigest()


_LOADED_FROM: WeakKeyDictionary[ModuleType, str] = WeakKeyDictionary()
"""The hash that the files of its package had when a module was loaded."""


def call(code: Code) -> Any:
    """What the name stands for: a torch module, or a function of latents. What takes nothing is
    called, and gives one of these. Raises ModelError, also if the package's files were written
    since this program loaded it: Python would go on with what they were."""
    module, _, name = code.function.partition(":")
    try:
        value: Any = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        raise _fails(code.function, "cannot be loaded", error) from error
    if _LOADED_FROM.setdefault(value, code.sha256) != code.sha256:
        raise ModelError(
            f"The files of the Python package {code.package} were changed after this program "
            f"loaded {module}.",
            safe=_SAFE,
            todo="Close labapp and start it again, so that it runs the files as they are now.",
        )
    try:
        for part in name.split("."):
            value = getattr(value, part)
        if callable(value) and not is_network(value) and _takes_nothing(value):
            value = value()
    except (Exception, SystemExit) as error:
        raise _fails(code.function, "cannot be loaded", error) from error
    if not callable(value):
        raise ModelError(
            f"{code.function} returns {type(value).__name__}, not a decoder.",
            safe=_SAFE,
            todo="It must take latents of shape (n, dimensions) and return pictures, or take "
            "nothing and return such a function or a torch module.",
        )
    return value


def _takes_nothing(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return not any(
        each.kind is each.VAR_POSITIONAL
        or (each.default is each.empty and each.kind is not each.VAR_KEYWORD)
        for each in parameters
    )


def is_network(value: Any) -> bool:
    """Whether it is a torch module, which can become a graph."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def runner(function: Callable[[Float32], Any], name: str) -> Callable[[Float32], Float32]:
    """The function with float32 in and out, an array of its own each time, and faults that are
    told. Raises ModelError when it is run."""

    def run(latents: Float32) -> Float32:
        try:
            made = function(latents.copy())
            torch = sys.modules.get("torch")
            if torch is not None and isinstance(made, torch.Tensor):
                made = made.detach().cpu().numpy()
            return np.array(made, np.float32)
        except (Exception, SystemExit) as error:
            if memory.is_too_much(error):
                raise ModelError(
                    f"The decoder {name} cannot be run: {memory.describe_shortage()}.",
                    safe=_SAFE,
                    todo=memory.ADVICE,
                ) from error
            raise _fails(name, f"fails on latents of the shape {latents.shape}", error) from error

    return run


def _fails(name: str, what: str, error: BaseException) -> ModelError:
    text = " ".join(str(error).split())[:300]
    return ModelError(
        f"The decoder {name} {what}: {type(error).__name__}{f': {text}' if text else ''}.",
        safe=_SAFE,
        todo="Correct the function, or install what it needs.",
    )


def require(card: ModelCard) -> Code:
    """The package of a card, the same as at the import. Raises ModelError."""
    assert card.origin is not None
    stated = card.origin.package or {}
    code = locate(stated.get("function", ""))
    differs = code.sha256 != card.origin.files.get(code.file)
    if code.described != stated or differs:
        version = stated.get("version")
        other = f", version {code.version}" if code.version != version else ""
        raise ModelError(
            f"The model {card.id} is computed by the Python package {stated.get('package')}, "
            f"version {version}, but the package that is installed here is different{other}: "
            "its files have changed since the import.",
            safe=_SAFE,
            todo="Restore the files, or import the model again under another id "
            "(labapp models import --python).",
        )
    return code


def build(card: ModelCard, latents: Float32, pictures: Float32) -> Forward:
    """The decoder of a card as a function of float32 z. Raises ModelError: the package is not there
    or another, or makes other pictures. `latents`: some of z, shape (k, width). `pictures`: what it
    made of them at the import, shape (k, *shape)."""
    code = require(card)
    shape = card.made_by.output_shape
    run = runner(call(code), card.id)
    made = run(latents)
    try:
        how = layout(made.shape[1:], shape)
    except ValueError as error:
        raise _make_changed_error(card, f"{error}") from error

    decode = apply_layout(run, how)
    apart = float(np.abs(decode(latents) - pictures).max(initial=0.0))
    if not apart <= CLOSE * max(1.0, float(np.abs(pictures).max(initial=0.0))):
        raise _make_changed_error(
            card, f"its pictures differ from those of the import by up to {apart:.2g}"
        )
    return Forward(decode, "a function in Python", "python")


def apply_layout(
    run: Callable[[Float32], Float32], how: OutputLayout
) -> Callable[[Float32], Float32]:
    """The function with the layout of pictures behind it."""

    def decode(z: Float32) -> Float32:
        made = run(z)
        if len(made) != len(z):
            return made  # not a picture for each, which the caller reports
        x = made.reshape(len(z), *how.reshape)
        return np.ascontiguousarray(np.moveaxis(x, 1, -1) if how.channels_first else x)

    return decode


def _make_changed_error(card: ModelCard, why: str) -> ModelError:
    return ModelError(
        f"The model {card.id} is no longer what was imported: {why}.",
        safe=_SAFE,
        todo=f"{_changes(card)} Restore it, or import the model again under another id.",
    )


def _changes(card: ModelCard) -> str:
    """Which versions are others than those that the card states."""
    stated = (card.origin and card.origin.versions) or {}
    here = {name: _version(name) for name in stated if stated[name] != "none"}
    changed = [
        f"{name} {v}, here {here[name]}" for name, v in stated.items() if v != here.get(name, v)
    ]
    if changed:
        return f"The import was made with {'; '.join(changed)}."
    return "Something that its function uses has changed, such as another package or a file."


def _version(name: str) -> str:
    if name == "python":
        return platform.python_version()
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
