"""`labapp moderate` and `labapp observe`: take part in a session that runs at another computer."""

from __future__ import annotations

import typer


def moderate(host: str = "") -> None:
    """Moderate a session from this computer, with the code that the session's console shows.

    Example: labapp moderate 192.168.1.20:8731

    host: The session's address as its console shows it, such as 192.168.1.20:8731.
    """
    _join(host, observes=False)


def observe(host: str = "") -> None:
    """Watch a session from this computer. Your notes reach the moderator.

    Example: labapp observe 192.168.1.20:8731

    host: The session's address as its console shows it, such as 192.168.1.20:8731.
    """
    _join(host, observes=True)


def _join(host: str, *, observes: bool) -> None:
    from labapp.ui.joining import join_session, split_address

    if host:
        split_address(host)  # refused before a window opens
    raise typer.Exit(join_session(host, "observer" if observes else "moderator"))
