"""`labapp docs`: the documentation as pages, without a network."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer

from labapp.console import say


def docs(
    path: Annotated[
        bool, typer.Option("--path", help="Print where the pages are, and open nothing.")
    ] = False,
) -> None:
    """Open the documentation in the browser; no network is needed.

    Example: labapp docs
    """
    from labapp.documentation import first_page

    page = first_page()
    if path:
        say(page)
    elif not webbrowser.open(page.as_uri()):
        say(f"No browser was found here. The pages are at {page}")
