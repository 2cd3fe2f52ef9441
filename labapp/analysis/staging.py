"""Files that are written out of sight and put in their place when all of them are done.

Ctrl-C, a full disk or a loss of power leaves no half of an analysis that looks like a whole one.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labapp import access, leftovers

UNFINISHED = ".unfinished"
"""How the name of the folder begins in which an analysis is written. What a program that was killed
left of one is removed by the next analysis that is written to the same place."""


@contextmanager
def staged(out: Path, last: str) -> Iterator[Path]:
    """A folder to write into; its files are moved into `out` at the end, the one named `last` last.

    Nothing that is in `out` already is touched. After an error `out` is as it was before; what is
    left of an analysis that was killed is in a folder of its own. Raises OSError.
    """
    new = not out.exists()
    access.own_folder(out)
    folder = Path(tempfile.mkdtemp(prefix=leftovers.prefix_in(out, UNFINISHED), dir=out))
    try:
        yield folder
        for made in sorted(folder.iterdir(), key=lambda path: (path.name == last, path.name)):
            if (out / made.name).exists():
                raise FileExistsError(f"{out / made.name} was made by somebody else meanwhile")
            made.rename(out / made.name)
    finally:
        shutil.rmtree(folder)
        if new and not any(out.iterdir()):
            out.rmdir()
