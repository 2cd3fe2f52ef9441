"""A mistake of labapp itself, told as every other failure: in words, with its details in a file."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from labapp.base.console import say
from labapp.base.errors import LabappError, ProgramError
from labapp.base.mistakes import keep, missing_extra, short
from labapp.ui.language import tr


@contextmanager
def wrap_errors(what: str, safe: str = "", todo: str = "") -> Iterator[None]:
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
        if missing := missing_extra(error):
            raise missing from error
        where = _keep(error)
        details = tr("mistake.details_in_file", file=where)
        if not where:
            details = tr("mistake.details_on_stderr")
        raise ProgramError(
            tr("mistake.told", what=what, error=short(error)),
            safe=safe or tr("mistake.safe"),
            todo=" ".join(part for part in (todo, details) if part),
        ) from error


@contextmanager
def show_errors(show: Callable[[LabappError], None], what: str, safe: str = "") -> Iterator[None]:
    """Show whatever goes wrong in here, and go on behind it."""
    try:
        with wrap_errors(what, safe):
            yield
    except LabappError as error:
        show(error)


def _keep(error: Exception) -> str:
    """Tell the details on the standard error and keep them; returns the file, or nothing."""
    say("".join(traceback.format_exception(error)).rstrip(), err=True)
    return keep(error)
