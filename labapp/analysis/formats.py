"""Numbers as the report prints them."""

from __future__ import annotations


def decimal(value: float, decimals: int, *, sign: bool = False) -> str:
    """With thousands separators, a true minus sign, and no more digits than the number carries."""
    digits = 0 if abs(value) >= 1000 else min(decimals, 1) if abs(value) >= 100 else decimals
    said = f"{round(value, digits) + 0.0:{'+' if sign and round(value, digits) else ''},.{digits}f}"
    return said.replace("-", "−")


def clock(seconds: float) -> str:
    """Minutes and seconds, as 12:05."""
    whole = round(float(seconds))
    return f"{whole // 60}:{whole % 60:02d}"


def count(n: int, noun: str) -> str:
    """1 session, 2 sessions."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def either(numbers: list[int]) -> str:
    """2 or 3."""
    return " or ".join(str(number) for number in numbers)
