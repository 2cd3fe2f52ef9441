"""The studies that the home offers: the shipped ones and one's own, and whether a file changed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from labapp import resources
from labapp.errors import LabappError
from labapp.representations import package
from labapp.study import loading
from labapp.study.flow import blinds
from labapp.study.loading import LoadedStudy, StudyHead
from labapp.study.schema import Study
from labapp.ui import remembered
from labapp.ui.language import tr
from labapp.ui.moderator.choices import StudyChoice
from labapp.ui.remembered import Remembered

USUAL = "quickstart"
"""The study that a first start shows."""

Stamp = tuple[tuple[str, int, int], ...]
"""Path, time of change in ns and size in bytes of each file; an unreadable file has -1 and -1."""


class StudyShelf:
    """Keeps what was chosen (`choices`), and watches the files of the chosen study."""

    def __init__(self) -> None:
        self.choices = Remembered()
        self.problem: LabappError | None = None
        self._chosen = ""
        self._files: list[Path] = []
        self._stamp: Stamp = ()
        self._models: tuple[str, ...] = ()
        self._model_stamp: Stamp = ()
        self._installed: Stamp | None = None
        self._shipped: list[StudyChoice] = []
        self.look_again()
        try:
            self.choices = remembered.read()
        except LabappError as error:
            self.problem = error

    def look_again(self) -> bool:
        """Whether studies, models, questionnaires or stimulus sets were installed or removed since
        this was asked last; then the titles of the studies are read again."""
        paths = loading.installed()
        stamp = _stamp([*paths, *_folders()])
        if stamp == self._installed:
            return False
        self._installed = stamp
        titled = [StudyChoice(path.stem, loading.title_of(path) or path.stem) for path in paths]
        self._shipped = sorted(titled, key=lambda choice: choice.title.casefold())
        return True

    def blinds(self, study: Study) -> bool:
        """Whether sessions of a study are blind unless somebody says otherwise: because they were
        left so, or because one of its tasks asks for it."""
        return self.choices.blind or blinds(study.flow)

    def watch_models(self, models: Iterable[str]) -> None:
        """Watch the files of these models, given by id."""
        self._models = tuple(models)
        self._model_stamp = _stamp_of_models(self._models)

    def models_changed(self) -> bool:
        """Whether a file of a watched model was written, or is gone, since this was asked last."""
        stamp = _stamp_of_models(self._models)
        different, self._model_stamp = stamp != self._model_stamp, stamp
        return different

    @property
    def sources(self) -> list[StudyChoice]:
        """The studies that one can be made of."""
        return list(self._shipped)

    @property
    def first(self) -> str:
        """The study to begin with: the last one, if it is still there."""
        known = [choice.study for choice in self._shipped]
        last = self.choices.study
        if last in known or Path(last).is_file():
            return last
        return USUAL if USUAL in known else next(iter(known), "")

    def offered(self) -> list[StudyChoice]:
        """Own studies first, the others by their titles; a file that is gone says so."""
        studies = []
        for path, title in self.choices.own.items():
            name = f"{title} ({Path(path).name})"
            if not Path(path).is_file():
                name = tr("{study}: the file is gone", study=name)
            studies.append(StudyChoice(path, name))
        studies += self._shipped
        if self._chosen not in [choice.study for choice in studies]:  # it could not be loaded yet
            studies.insert(0, StudyChoice(self._chosen, Path(self._chosen).name))
        return studies

    def head(self, study: str) -> StudyHead:
        """What a study that is offered says of itself; read when somebody looks at the list."""
        path = Path(study)
        if study in [choice.study for choice in self._shipped]:
            path = next((each for each in loading.installed() if each.stem == study), path)
        return loading.head_of(path)

    def group(self, study: str, head: StudyHead) -> str:
        """Under which heading a study is listed: own, published or shipped."""
        if study not in [choice.study for choice in self._shipped]:
            return "own"
        return "published" if head.published else "shipped"

    def keep(self, **changed: object) -> None:
        """Remember a choice besides the study. Raises DataFolderError."""
        self._write(Remembered(**(vars(self.choices) | changed)))

    def choose(self, study: str, loaded: LoadedStudy | None) -> None:
        """Watch the files of a study that was chosen; remember it where it could be loaded.

        Raises DataFolderError where that cannot be kept.
        """
        self._chosen = study
        own = study not in [choice.study for choice in self._shipped]
        if loaded is None:
            self._files = [Path(study)] if own else []
        else:
            self._files = loading.sources(loaded)
        self._stamp = _stamp(self._files)
        if loaded is not None:
            path = str(loaded.path.resolve()) if own else study
            self._chosen = path
            self._write(self.choices.with_study(path, loaded.study.title, own=own))

    @property
    def chosen(self) -> str:
        """The study that is looked at, whether or not it could be loaded."""
        return self._chosen

    def changed(self) -> bool:
        """Whether a file of the chosen study is another by now; asked again, it says no."""
        stamp = _stamp(self._files)
        different, self._stamp = stamp != self._stamp, stamp
        return different

    def _write(self, choices: Remembered) -> None:
        if choices != self.choices:
            self.choices = choices
            remembered.write(choices)


def _folders() -> list[Path]:
    """The folders that change where something is installed or removed."""
    roots = [*resources.model_roots(), resources.stimuli(), resources.user_stimuli()]
    inside = [folder for root in roots if root.is_dir() for folder in sorted(root.iterdir())]
    return [*roots, *inside, *(root / "instruments" for root in loading.asset_roots())]


def _stamp_of_models(models: Iterable[str]) -> Stamp:
    return _stamp(file for model in models for file in package.files_of(model))


def _stamp(files: Iterable[Path]) -> Stamp:
    return tuple(_of(file) for file in files)


def _of(file: Path) -> tuple[str, int, int]:
    try:
        known = file.stat()
    except OSError:
        return str(file), -1, -1
    return str(file), known.st_mtime_ns, known.st_size
