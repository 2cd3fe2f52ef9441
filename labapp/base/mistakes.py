"""Mistakes of labapp itself, described in words; the details are in a file for its developers."""

from __future__ import annotations

import sys
import traceback
from datetime import UTC, datetime
from hashlib import sha256

from labapp import __version__
from labapp.base import resources
from labapp.base.clock import utc_text
from labapp.base.errors import LabappError, ProgramError, SetupError
from labapp.base.installation import EXTRAS, install_command
from labapp.base.messages import Message


def keep(error: BaseException) -> str:
    """Write the details of a mistake down; returns the file, or nothing if it could not be
    written. The same mistake has the same file, however often it comes."""
    details = "".join(traceback.format_exception(error))
    written = details.encode("utf-8", "backslashreplace")
    file = resources.log_root() / f"mistake-{sha256(written).hexdigest()[:12]}.txt"
    head = f"labapp {__version__}, Python {sys.version.split()[0]}, {sys.platform}"
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not file.exists():
            file.write_bytes(f"{head}, {utc_text(datetime.now(UTC))}\n\n".encode() + written)
            file.chmod(0o600)
    except OSError:
        return ""
    return str(file)


def missing_extra(error: BaseException) -> SetupError | None:
    """What to say where an import failed because an extra is not installed; None for every other
    error."""
    name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if name not in EXTRAS:
        return None
    return SetupError(
        Message("package_missing", name=name),
        todo=Message("package_install", command=install_command(EXTRAS[name])),
    )


def explain_unexpected(error: Exception) -> LabappError:
    """The error that a command shows for one that nobody expected there: a package is missing, or
    labapp has a mistake."""
    if missing := missing_extra(error):
        return missing
    file = keep(error)
    if not file:
        traceback.print_exception(error)
    if isinstance(error, MemoryError):
        what = "There is not enough memory for this."
        todo = "Close other programs, or use fewer or smaller files."
    elif isinstance(error, RecursionError):
        what = "Something in the input is nested too deeply to be read."
        todo = "Check the input: it may not be the file that you meant."
    else:
        what = f"This is an error in labapp ({short(error)})."
        todo = "If a file that you gave may have caused it, try again without that file."
    where = f"The details are in {file}." if file else "The details are above."
    return ProgramError(what, safe="Recorded sessions are untouched.", todo=f"{todo} {where}")


def short(error: BaseException) -> str:
    """Kind and first line of an error."""
    first = str(error).strip().splitlines()
    return f"{type(error).__name__}: {first[0]}" if first else type(error).__name__
