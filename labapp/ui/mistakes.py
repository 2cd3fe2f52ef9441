"""A mistake of labapp itself, told as every other failure: in words, with its details in a file."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256

from labapp import __version__, resources
from labapp.clock import utc_text
from labapp.errors import LabappError, ProgramError
from labapp.ui.language import tr


@contextmanager
def worded(what: str, safe: str = "", todo: str = "") -> Iterator[None]:
    """Raise whatever goes wrong in here as a LabappError, which windows and commands can tell.

    Parameters
    ----------
    what : what could not be done, as a sentence. A LabappError says it all by itself and is raised
        as it is.
    safe : what is safe, as a sentence.
    todo : what to do next, before the sentence that says where the details are.
    """
    try:
        yield
    except LabappError:
        raise
    except Exception as error:
        where = _keep(error)
        details = tr("The details for whoever looks after labapp are in {file}.", file=where)
        if not where:
            details = tr("The details are on standard error.")
        raise ProgramError(
            tr("{what} This is a mistake in labapp ({error}).", what=what, error=_short(error)),
            safe=safe or tr("Sessions that were recorded are untouched."),
            todo=" ".join(part for part in (todo, details) if part),
        ) from error


@contextmanager
def caught(show: Callable[[LabappError], None], what: str, safe: str = "") -> Iterator[None]:
    """Show whatever goes wrong in here, and go on behind it."""
    try:
        with worded(what, safe):
            yield
    except LabappError as error:
        show(error)


def _short(error: Exception) -> str:
    first = str(error).strip().splitlines()
    return f"{type(error).__name__}: {first[0]}" if first else type(error).__name__


def _keep(error: Exception) -> str:
    """Write the details down; returns the file, or nothing where it could not be written. The same
    mistake has the same file, however often it comes."""
    details = "".join(traceback.format_exception(error))
    print(details, file=sys.stderr, end="")
    file = resources.log_root() / f"mistake-{sha256(details.encode()).hexdigest()[:12]}.txt"
    head = f"labapp {__version__}, Python {sys.version.split()[0]}, {sys.platform}"
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not file.exists():
            text = f"{head}, {utc_text(datetime.now(UTC))}\n\n{details}"
            file.write_text(text, encoding="utf-8")
            file.chmod(0o600)
    except OSError:
        return ""
    return str(file)
