"""Session times as people write them: 12:34.5."""

from __future__ import annotations

import re

from labapp.base.clock import NS
from labapp.base.errors import UsageError

WRITTEN = re.compile(r"(?:(?:(\d{1,3}):)?(\d{1,3}):)?(\d{1,6})(?:[.,](\d{1,9}))?")


def time_ns(text: str) -> int:
    """A session time in ns, of hours, minutes and seconds (1:02:03.5), of minutes and seconds
    (12:34.5), or of seconds (754.5). Raises UsageError for anything else."""
    match = WRITTEN.fullmatch(text.strip())
    hours, minutes, seconds, rest = match.groups() if match else (None,) * 4
    too_large = minutes is not None and int(seconds or 0) > 59
    too_large |= hours is not None and int(minutes or 0) > 59
    if match is None or too_large:
        raise UsageError(
            f"{text!r} is no time in a session.",
            todo="Write minutes and seconds as in 12:34.5, hours too as in 1:02:03, or seconds "
            "as in 754.5.",
        )
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return whole * NS + int((rest or "0").ljust(9, "0"))


def time_text(t_ns: int, digits: int = 1) -> str:
    """A session time as 12:34.5, with hours where there are any; cut, not rounded, so that what is
    written is not after what is meant."""
    sign, t_ns = ("-", -t_ns) if t_ns < 0 else ("", t_ns)
    seconds, rest = divmod(t_ns, NS)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{rest:09d}"[: digits + 1] if digits else ""
    hour = f"{hours}:{minutes:02d}" if hours else f"{minutes}"
    return f"{sign}{hour}:{seconds:02d}{fraction}"
