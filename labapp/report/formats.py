"""Numbers as the report prints them."""

from __future__ import annotations


def decimal(value: float, decimals: int, *, sign: bool = False, like: float | None = None) -> str:
    """A number with thousands separators, a true minus sign, and fewer decimals if it is large.

    like: a number that decides how many decimals there are (the mean, for its standard deviation).
    """
    size = abs(value if like is None else like)
    digits = 0 if size >= 1000 else min(decimals, 1) if size >= 100 else decimals
    text = f"{round(value, digits) + 0.0:{'+' if sign and round(value, digits) else ''},.{digits}f}"
    return text.replace("-", "−")


def clock(seconds: float) -> str:
    """A duration in minutes and seconds, as 12:05."""
    whole = round(float(seconds))
    return f"{whole // 60}:{whole % 60:02d}"


def count(n: int, noun: str) -> str:
    """A number with its noun: "1 session", "2 sessions"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def either(numbers: list[int]) -> str:
    """Numbers as alternatives: "2 or 3"."""
    return " or ".join(str(number) for number in numbers)
