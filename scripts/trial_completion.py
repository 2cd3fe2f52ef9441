"""Press Tab in real shells: `python -m scripts.trial_completion [bash] [zsh] [fish]`.

The shells have to be installed. Prints what came on the screen; ends with 1 where a name did not
come.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.helpers.journals import golden_session
from tests.helpers.shells import START, Shell


def main() -> None:
    for name in sys.argv[1:] or START:
        with tempfile.TemporaryDirectory() as folder:
            session = golden_session(Path(folder) / "data")
            shell = Shell(name, Path(folder), {"LABAPP_DATA": str(Path(folder) / "data")})
            try:
                for typed, expected in (
                    ("labapp sess", "sessions"),
                    ("labapp sessions ver", "verify"),
                    ("labapp run quick", "quickstart"),
                    ("labapp run quickstart --participant P", "P01"),
                    ("labapp sessions show sub-P0", session.name),
                    ("labapp models show sinelines/v", "sinelines/vae"),
                    ("labapp studies check comple", "completion"),
                ):
                    shell.tab(typed, expected)
                    print(f"{name}: {typed}<Tab> {expected}")
            finally:
                shell.close()


if __name__ == "__main__":
    main()
