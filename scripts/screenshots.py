"""Pictures of every screen at the settings it must look right at.

    python scripts/screenshots.py OUT [--module NAME] [--only NAME] [--setting NAME]
        [--platform offscreen|xcb]

Screens come from the modules `scripts/screens_*.py`, each with a generator `shots(folder)` that
yields (name, window); the window is on the screen while its picture is taken. `folder` is a new
folder for sessions. With xcb, each setting needs a display of its size (xvfb-run -s "-screen 0 …").
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Setting:
    """A screen: its size in device pixels and the scale its owner chose."""

    width: int
    height: int
    scale: float

    @property
    def name(self) -> str:
        return f"{self.width}x{self.height}@{self.scale * 100:.0f}"


SETTINGS = (
    Setting(1366, 768, 1.0),
    Setting(1920, 1080, 1.0),
    Setting(1920, 1080, 1.5),
    Setting(2732, 1536, 2.0),
    Setting(1366, 768, 1.5),
    Setting(1920, 1080, 2.0),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="screens whose name contains this")
    modules = [path.stem.removeprefix("screens_") for path in sorted(HERE.glob("screens_*.py"))]
    parser.add_argument(
        "--module",
        default="",
        choices=("", *modules),
        metavar="NAME",
        help=f"only screens_NAME.py: {', '.join(modules)}",
    )
    parser.add_argument(
        "--setting",
        default="",
        choices=("", *(each.name for each in SETTINGS)),
        metavar="NAME",
        help="one setting, such as 1366x768@100",
    )
    parser.add_argument("--platform", default="offscreen", choices=("offscreen", "xcb"))
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    settings = [s for s in SETTINGS if options.setting in ("", s.name)]
    if options.here:
        return take(options.out, settings[0], options.only, options.module)
    # Qt reads platform and scale once, when it starts: one process a setting.
    status = 0
    for setting in settings:
        command = [sys.executable, __file__, str(options.out), "--here"]
        command += ["--setting", setting.name, "--only", options.only]
        command += ["--module", options.module]
        env = os.environ | {"QT_SCALE_FACTOR": f"{setting.scale:g}"}
        with tempfile.TemporaryDirectory() as folder:
            if options.platform == "offscreen":
                env["QT_QPA_PLATFORM"] = offscreen(setting, Path(folder))
            else:
                env["QT_QPA_PLATFORM"] = "xcb"
            status |= subprocess.run(command, env=env, check=False).returncode
    return status


def offscreen(setting: Setting, folder: Path) -> str:
    """The offscreen platform with one screen of the setting's size."""
    screen = {"name": setting.name, "x": 0, "y": 0, "width": setting.width}
    screen |= {"height": setting.height, "logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}
    config = folder / "screen.json"
    config.write_text(json.dumps({"synchronousWindowSystemEvents": True, "screens": [screen]}))
    return f"offscreen:configfile={config}"


def take(out: Path, setting: Setting, only: str, module: str) -> int:
    """Take all pictures of one setting in this process."""
    sys.path.insert(0, str(HERE.parent))
    from PySide6.QtWidgets import QApplication

    app = QApplication(sys.argv[:1])
    app.setStyle("Fusion")  # as labapp.ui.starting does
    out.mkdir(parents=True, exist_ok=True)
    for name, window in screens(module):
        for _ in range(5):
            app.processEvents()
        if only in name:
            path = out / f"{name}_{setting.name}.png"
            window.grab().save(str(path))
            print(path)
    return 0


def screens(module: str = "") -> Iterator[tuple[str, QWidget]]:
    """All screens of a module, or of all."""
    for path in sorted(HERE.glob(f"screens_{module or '*'}.py")):
        with tempfile.TemporaryDirectory() as folder:
            yield from _module(path).shots(Path(folder))


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
