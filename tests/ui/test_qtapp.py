"""What the interpreter is told for the windows' sake."""

from __future__ import annotations

import linecache
import sys
from importlib import import_module
from inspect import getsource
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from labapp.ui.qtapp import make_app


def test_the_source_of_what_is_imported_later_is_not_held_in_memory(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As PySide comes: tests/conftest.py has told it already.
    feature = import_module("shibokensupport.feature")
    monkeypatch.setattr(feature, "_mod_uses_pyside", lambda module: "PySide" in getsource(module))
    make_app()
    (tmp_path / "imported_after_qt.py").write_text("import imported_by_it\n")
    (tmp_path / "imported_by_it.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    import imported_after_qt  # type: ignore[import-not-found]

    try:
        assert imported_after_qt.imported_by_it.VALUE == 1
        assert not [name for name in linecache.cache if "imported_" in name]
    finally:
        for name in ("imported_after_qt", "imported_by_it"):
            sys.modules.pop(name, None)
