"""Where the documentation is as pages: inside a wheel, or where `make docs` builds it."""

from __future__ import annotations

from pathlib import Path

from labapp.base import resources
from labapp.base.errors import SetupError

FIRST = "index.html"


def first_page() -> Path:
    """The page to open. Raises SetupError where the pages are not built."""
    page = resources.documentation() / FIRST
    if page.is_file():
        return page
    if resources.in_checkout():
        raise SetupError(
            "The pages of the documentation are not built yet.",
            todo="Build them with `make docs`, or read the folder docs of the checkout.",
        )
    raise SetupError(
        "This labapp was built without the pages of the documentation.",
        todo="Install a wheel that was built where mkdocs-material is installed.",
    )
