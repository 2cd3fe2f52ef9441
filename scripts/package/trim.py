"""What the package leaves out of the distributions that it installs."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from scripts.package import elf, icu

QT_MODULES = (
    "QtConcurrent", "QtCore", "QtDBus", "QtGui", "QtNetwork", "QtOpenGL", "QtOpenGLWidgets",
    "QtPrintSupport", "QtSvg", "QtSvgWidgets", "QtTest", "QtWidgets",
)  # fmt: skip
QT_PLUGINS = (
    "iconengines/*", "imageformats/*", "platforminputcontexts/libcompose*",
    "platforminputcontexts/libibus*", "platforms/*minimal.*", "platforms/*offscreen.*",
    "platforms/*wayland*", "platforms/*xcb.*", "platforms/qwindows.*", "platforms/libqcocoa.*",
    "platformthemes/libqxdg*", "styles/*", "tls/*", "wayland-decoration-client/*",
    "wayland-graphics-integration-client/libqt-plugin*", "wayland-shell-integration/libxdg*",
    "xcbglintegrations/*",
)  # fmt: skip
"""Of Qt: the modules that windows of labapp and of packages with tasks are made of, and the
plugins that these load. Everything else goes, with the libraries that only it loads."""

NOT_QT = ("QtPdf", "qpdf")

ARROW = (
    "_flight*", "flight.py", "arrow_flight*", "_s3fs*", "_substrait*", "substrait.py", "include",
    "src", "*.lib",
)  # fmt: skip
"""Of pyarrow: the network services Flight and S3, Substrait, and what C++ is compiled with."""

FOLDERS = (
    "*/tests", "*/test", "pyqtgraph/examples", "matplotlib/mpl-data/sample_data",
    "onnxruntime/transformers", "onnxruntime/tools", "onnxruntime/quantization",
    "numpy/_core/include",
    "sklearn/datasets/data", "sklearn/datasets/images", "lxml/html", "lxml/isoschematron",
)  # fmt: skip
KEPT = ("numpy/_core/tests/_natype.py",)
FILES = (
    "*.pyi", "*.pyx", "*.pxd", "*.pxi", "*.a", "*.c", "*.h", "*.hpp", "*.cpp",
    "onnxruntime/capi/libonnxruntime.so*", "lxml/objectify*.so", "PIL/_avif*.so",
    "pillow.libs/libavif*",
)  # fmt: skip
"""The distributions' own tests, examples, data sets, sources and types for other programs to read;
HTML and Schematron; pictures in AVIF, which no stimuli are; and what ONNX Runtime brings for
programs in C, a second copy of all that its module for Python holds."""
UNSTRIPPED = ("*.libs", "PySide6")
"""Where libraries were changed after they were linked, or hold no symbols anyway."""

STANDARD_LIBRARY = (
    "site-packages", "dist-packages", "test", "idlelib", "lib2to3", "tkinter", "turtledemo",
    "turtle.py", "ensurepip", "config-*", "__pycache__", "curses", "pydoc_data",
    "EXTERNALLY-MANAGED",
)  # fmt: skip
EXTENSIONS = (
    "_tkinter*", "readline*", "_gdbm*", "_dbm*", "nis.*", "nis*.so", "_curses*", "_test*", "xx*",
    "_xx*", "_ctypes_test*", "ossaudiodev*", "_crypt*",
)  # fmt: skip
"""Of Python itself: windows of another kind, its own tests, and what is under the GPL (readline,
gdbm); and crypt, which newer Pythons have no more, and whose library needs a newer glibc."""


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def trim(site: Path) -> None:
    """Remove from a folder of installed distributions what the package leaves out."""
    for pattern in FOLDERS:
        for folder in sorted(site.rglob(pattern) if "*" in pattern else site.glob(pattern)):
            _empty(site, folder)
    for pattern in FILES:
        for file in list(site.glob(pattern) if "/" in pattern else site.rglob(pattern)):
            remove(file)
    for pattern in ARROW:
        for path in list((site / "pyarrow").glob(pattern)):
            remove(path)
    _one_name_each(site / "pyarrow")
    _drop_unused(site / "pyarrow", "lib*.so.*")
    _link_equal(site)
    if (site / "PySide6" / "Qt").is_dir():
        _trim_qt(site / "PySide6")
    for file in elf.elves(site):
        top = Path(file.path.relative_to(site).parts[0])
        if not any(top.match(pattern) for pattern in UNSTRIPPED):
            subprocess.run(["strip", "--strip-unneeded", file.path], check=True)


def _empty(site: Path, folder: Path) -> None:
    """Remove a folder but for the files that others import."""
    kept = [site / name for name in KEPT if (site / name).is_relative_to(folder)]
    if not kept:
        if folder.is_dir():
            remove(folder)
        return
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file() and path not in kept:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    (folder / "__init__.py").touch()


def _one_name_each(folder: Path) -> None:
    """Of a library that a wheel holds by several names, keep the one that others load it by."""
    for path in list(folder.glob("*.so*")):
        file = elf.read(path)
        if file and file.soname != path.name and (folder / file.soname).is_file():
            path.unlink()


def _link_equal(site: Path) -> None:
    """Keep a library once that several distributions bring under the same name."""
    first: dict[str, Path] = {}
    for path in sorted(site.glob("*.libs/*.so*")):
        kept = first.setdefault(path.name, path)
        if kept != path and kept.read_bytes() == path.read_bytes():
            path.unlink()
            path.symlink_to(Path("..") / kept.relative_to(site))


def _drop_unused(folder: Path, pattern: str) -> None:
    """Remove the libraries that no other file of a folder loads, directly or through others."""
    files = list(elf.elves(folder))
    libraries = [file for file in files if file.path in set(folder.glob(pattern))]
    others = [file for file in files if file not in libraries]
    for path in {file.path for file in libraries} - elf.reached(others, libraries):
        path.unlink()


def _trim_qt(pyside: Path) -> None:
    for path in list(pyside.iterdir()):
        module = path.name.partition(".")[0]
        mine = module in QT_MODULES or path.name.startswith(
            ("__init__", "_", "libpyside6.", "Qt", "support")
        )
        foreign = module.startswith("Qt") and module != "Qt" and module not in QT_MODULES
        if foreign or not mine:
            remove(path)
    qt = pyside / "Qt"
    for path in list(qt.iterdir()):
        if path.name not in {"lib", "plugins", "translations"}:
            remove(path)
    for path in list((qt / "translations").iterdir()):
        if not path.name.startswith("qtbase_"):
            path.unlink()
    plugins = qt / "plugins"
    kept = {path for pattern in QT_PLUGINS for path in plugins.glob(pattern)}
    for path in list(plugins.rglob("*")):
        if path.is_file() and (path not in kept or any(name in path.name for name in NOT_QT)):
            path.unlink()
    for path in sorted(plugins.iterdir()):
        if not any(path.iterdir()):
            path.rmdir()
    _drop_unused(pyside, "Qt/lib/*")
    for library in (qt / "lib").glob("libicudata.so.*"):
        icu.trim(library)


def interpreter_ignores(names: tuple[str, ...]) -> Callable[[str, list[str]], set[str]]:
    """For shutil.copytree: names to leave out at the top, and compiled files anywhere."""
    top: list[str] = []

    def ignores(folder: str, children: list[str]) -> set[str]:
        if not top:
            top.append(folder)
        patterns = names if folder == top[0] else (*EXTENSIONS, "__pycache__", "test", "tests")
        return set(_matching(children, patterns))

    return ignores


def _matching(children: list[str], patterns: tuple[str, ...]) -> Iterator[str]:
    for child in children:
        if any(Path(child).match(pattern) for pattern in patterns):
            yield child
