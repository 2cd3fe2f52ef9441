"""The stimulus sets that there are, in a line each."""

from __future__ import annotations

from typing import Any

from labapp import resources
from labapp.errors import StimuliError
from labapp.stimuli import library


def rows() -> list[dict[str, Any]]:
    """A mapping for each set: at least id, source (shipped or own) and folder; kind, method, sets
    and photos, or, where it cannot be read, problem."""
    out = []
    for folder in library.set_folders():
        shipped = folder.parent == library.shipped_folder()
        row: dict[str, Any] = {
            "id": folder.name,
            "source": "shipped" if shipped else "own",
            "folder": folder,
        }
        try:
            manifest = library.load(folder).manifest
        except StimuliError as error:
            row["problem"] = error.what.splitlines()[0]
        else:
            row |= {
                "title": manifest.title,
                "kind": manifest.kind,
                "method": manifest.method.name,
                "sets": len(manifest.sets),
                "photos": len(manifest.photos),
            }
        out.append(row)
    return out


def lines(rows: list[dict[str, Any]]) -> list[str]:
    """The same for people."""
    wide = max((len(row["id"]) for row in rows), default=0)
    out = []
    for row in rows:
        if "problem" in row:
            text = row["problem"]
        else:
            sets = "1 set" if row["sets"] == 1 else f"{row['sets']} sets"
            text = f"{row['title']} ({sets}, {row['photos']} photos)"
        out.append(f"{row['id']:{wide}}  {row['source']:7}  {text}")
    return [*out, "", f"shipped: {resources.stimuli()}", f"own:     {resources.user_stimuli()}"]
