"""Which studies are related: a person takes part in one of them only.

One study file names the other; it holds both ways, for whoever runs the other one first must find
the person too. A study that is named looks for it in the copies that sessions under the data root
have of theirs, and in the shipped file of that name.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from labapp import resources
from labapp.documents import parse_yaml
from labapp.errors import StudyError
from labapp.journal.layout import STUDY, FolderName, study_files_of
from labapp.reading import files
from labapp.study.schema import Study


def related(data: Path, study: Study) -> tuple[str, ...]:
    """Ids of the studies that this one names, then of those with a folder under the data root that
    name this one."""
    names = dict.fromkeys(study.related)
    if data.is_dir():
        for other in sorted(data.iterdir()):
            direct = other.name in names or other.name == study.id
            if not direct and other.is_dir() and _names(other, study.id):
                names[other.name] = None
    return tuple(names)


def _names(other: Path, study: str) -> bool:
    """Whether the study with this folder says that it is related, by its latest file."""
    for path in _files(other):
        try:
            content = files.content(path)
        except OSError:
            continue
        if b"related" not in content or study.encode() not in content:  # most say nothing
            return False
        try:
            named = parse_yaml(path, content).value.get("related")
        except StudyError:
            continue
        return isinstance(named, list) and study in named
    return False


def _files(other: Path) -> Iterator[Path]:
    """The study's files: as its sessions have it, the latest first, then as it is shipped."""
    try:
        sessions = [child for child in other.iterdir() if FolderName.parse(child.name)]
    except OSError:
        sessions = []
    for session in sorted(sessions, key=lambda path: path.name.rsplit("_", 1)[-1], reverse=True):
        folder = session / STUDY
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        yield from (folder / name for name in study_files_of(names)[:1])
    yield resources.assets() / "studies" / f"{other.name}.yaml"
