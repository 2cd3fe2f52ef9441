"""Small stimulus sets of interventions, made from a table: two concepts with four classes, or four
with eight (as dSprites have), a model whose switches leak, and studies that repair them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from labapp.models.stimuli import interventions, library, pictures, score_files
from labapp.models.stimuli.interventions import Answers
from labapp.models.stimuli.library import StimulusSet
from labapp.record.events.commands import Begin, ShowQuestion
from labapp.session.machine import SessionMachine
from labapp.study import loading, planner
from labapp.study.plugins.machine import PartMachine
from labapp.tasks.concept_repair.machine import ConceptGridTask, ConceptRepairTask
from labapp.tasks.concept_repair.plan import (
    ConceptGridPart,
    ConceptRepairPart,
    Grid,
    GridState,
    PlannedItem,
    Repair,
    RepairState,
)
from tests.helpers.beside import write_flow
from tests.helpers.play import SPACE, Play
from tests.helpers.stimuli import written

Json = dict[str, Any]
SEED = 11
SIDE = 208
GERMAN = {
    "size": {"name": "Größe", "off": "groß", "on": "klein"},
    "side": {"name": "Seite", "off": "rechts", "on": "links"},
    "height": {"name": "Höhe", "off": "tief", "on": "hoch"},
    "shape": {"name": "Form", "off": "Quadrat", "on": "Scheibe"},
}
CONCEPTS: tuple[Json, ...] = tuple(
    {"id": name, "name": name, "off": off, "on": on, "translations": {"de": GERMAN[name]}}
    for name, off, on in (
        ("size", "large", "small"),
        ("side", "right", "left"),
        ("height", "low", "high"),
        ("shape", "square", "disc"),
    )
)
NAMES = ("bap", "dob", "fim", "gul", "kep", "lor", "mib", "nud")
TWO: tuple[dict[str, bool], ...] = tuple(
    {"size": size, "side": side} for size in (False, True) for side in (False, True)
)
FOUR: tuple[dict[str, bool], ...] = (
    *({"shape": True, "size": a, "side": b} for a in (False, True) for b in (False, True)),
    *({"shape": False, "side": a, "height": b} for a in (False, True) for b in (False, True)),
)
TYPES = ("repair", "control", "trap", "unrepairable")


def rules(concepts: int) -> tuple[dict[str, bool], ...]:
    """Of each class which concepts make it."""
    return TWO if concepts == 2 else FOUR


def leaking(classes: Iterable[dict[str, bool]], beliefs: list[float], leak: float) -> Answers:
    """The answers of a model in which a concept that is set pulls the next one with it.

    leak: by how much, in logits; 0 for perfect switches.
    """
    ids = [concept["id"] for concept in CONCEPTS[: len(beliefs)]]
    every = np.array(interventions.states(len(beliefs)))
    perfect = np.log(interventions.PERFECT / (1 - interventions.PERFECT))
    own = np.log(np.array(beliefs) / (1 - np.array(beliefs)))
    odds = np.where(every == interventions.AS_IT_IS, own, np.array((0, -perfect, perfect))[every])
    odds = odds + np.roll(np.array((0, -leak, leak))[every], 1, axis=1)
    on = 1 / (1 + np.exp(-odds))
    table = np.stack(
        [
            np.prod(
                [
                    on[:, ids.index(i)] if is_on else 1 - on[:, ids.index(i)]
                    for i, is_on in rule.items()
                ],
                axis=0,
            )
            for rule in classes
        ],
        axis=1,
    )
    return np.asarray(table / table.sum(1, keepdims=True), np.float16)


def write(
    folder: Path,
    concepts: Literal[2, 4] = 4,
    *,
    each: int = 4,
    natural: int = 4,
    leak: float = 5.0,
    name: str = "",
) -> StimulusSet:
    """Write a small set into `folder`/ID and read it: one numbered set.

    each : pictures of every type of item (see `labapp.models.stimuli.interventions.item_type`).
    natural : pictures drawn whatever the model makes of them.
    leak : see `leaking`.
    name : the set's id, by default "tiny-concepts-" and the number of concepts.
    """
    ident = name or f"tiny-concepts-{concepts}"
    photos, files = _drawn(ident, concepts, each, natural, leak)
    manifest = json.dumps(_manifest(ident, concepts, photos, leak))
    return written(folder / ident, {**files, library.MANIFEST: manifest.encode()})


@cache
def _drawn(
    ident: str, concepts: int, each: int, natural: int, leak: float
) -> tuple[list[Json], dict[str, bytes]]:
    """Photos and the files of all but the manifest, whose words tests change: drawn once, for
    hundreds of tests write the same few sets."""
    photos, answers = _photos(ident, concepts, each, natural, leak)
    files = {photo["photo"]: _picture(photo["concepts"], photo["id"]) for photo in photos}
    return photos, {**files, "answers.npy": score_files.encode_answers(np.stack(answers))}


def _photos(
    ident: str, concepts: int, each: int, natural: int, leak: float
) -> tuple[list[Json], list[Answers]]:
    """Pictures of every type and their answers, drawn until there are enough."""
    random = np.random.default_rng(SEED)
    classes, wanted = rules(concepts), dict.fromkeys(TYPES, each)
    photos: list[Json] = []
    answers: list[Answers] = []
    ids = [concept["id"] for concept in CONCEPTS[:concepts]]
    for number in range(20_000):
        truths = [bool(there) for there in random.integers(2, size=concepts)]
        sure = random.uniform(0.55, 0.97, concepts).round(2)
        wrong = random.random(concepts) < random.choice([0, 0.3])
        beliefs = [
            float(p if there != is_wrong else round(1 - p, 2))
            for p, there, is_wrong in zip(sure, truths, wrong, strict=True)
        ]
        shown = dict(zip(ids, truths, strict=True))
        truth = next(place for place, rule in enumerate(classes) if rule.items() <= shown.items())
        table = leaking(classes, beliefs, leak)
        if number % 7 == 0:  # the predictor itself is wrong: all concepts may be right
            table = np.roll(table, 1, axis=1)
        item = interventions.item_type(table, beliefs, truths, truth)
        by_type = item is not None and wanted.get(item, 0) > 0
        if not by_type and (natural == 0 or any(wanted.values())):
            continue
        if by_type:
            wanted[item or ""] -= 1
        else:
            natural -= 1
        photos.append(
            {
                "id": f"p{len(photos) + 1:02}",
                "set": 1,
                "photo": f"{ident}-{len(photos) + 1:02}.png",
                "truth": f"c{truth + 1}",
                "prediction": f"c{int(table[0].argmax()) + 1}",
                "beliefs": beliefs,
                "concepts": truths,
                "item": item,
                "natural": not by_type,
            }
        )
        answers.append(table)
        if not any(wanted.values()) and natural == 0:
            return photos, answers
    raise AssertionError(f"a model with a leak of {leak} has no pictures of {wanted}")


def _manifest(ident: str, concepts: int, photos: list[Json], leak: float) -> Json:
    words = {concept["id"]: concept for concept in CONCEPTS}

    def marks(rule: dict[str, bool], of: Json) -> str:
        return ", ".join(of[name]["on" if on else "off"] for name, on in rule.items())

    classes = [
        {
            "id": f"c{place + 1}",
            "name": NAMES[place],
            "marks": marks(rule, words),
            "concepts": rule,
            "translations": {"de": {"marks": marks(rule, GERMAN)}},
        }
        for place, rule in enumerate(rules(concepts))
    ]
    next_to = [
        [1.0 if j == (i + 1) % concepts else 0.0 for j in range(concepts)] for i in range(concepts)
    ]
    oracle = 0.5 + 0.5 * np.eye(concepts)
    purity = np.clip(oracle + min(leak, 5.0) / 12 * np.array(next_to), 0, 1)
    return {
        "id": ident,
        "title": f"Tiny set: {concepts} concepts",
        "kind": "interventions",
        "method": {"name": "Tiny", "accuracy": 80.0},
        "classes_are": "objects",
        "invented": True,
        "classes": classes,
        "concepts": list(CONCEPTS[:concepts]),
        "concept_model": {
            "model": f"concepts/{ident}",
            "learner": "tiny",
            "task_accuracy": 80.0,
            "concept_accuracy": 85.0,
            "scores": {"ois": round(leak / 10, 3), "nis": 0.2, "share_trap": 0.125},
            "purity": purity.round(3).tolist(),
            "oracle": oracle.tolist(),
        },
        "answers": "answers.npy",
        "photos": photos,
        "seed": SEED,
        "made_with": "tests",
    }


def _picture(concepts: list[bool], ident: str) -> bytes:
    """A disc or a square on grey; shades differ a little from picture to picture."""
    small, left, high, disc = [*concepts, False, True, True][:4] if len(concepts) < 4 else concepts
    y, x = np.mgrid[:SIDE, :SIDE] / SIDE
    x, y = x - (0.3 if left else 0.7), y - (0.3 if high else 0.7)
    far = np.hypot(x, y) if disc else np.maximum(abs(x), abs(y))
    shade = int(ident[1:]) % 100
    return pictures.png(
        np.where(far < (0.1 if small else 0.2), 40 + shade, 200).astype(np.uint8), optimize=False
    )


TEXTS = {
    "practice.md": "# Practice\n\n{practice_pictures} pictures to try it.",
    "intro.md": "# Now it begins\n\n{pictures} pictures, {concepts}.",
}


def write_study(
    folder: Path,
    made: StimulusSet,
    *,
    before: Iterable[Any] = (),
    after: Iterable[Any] = (),
    language: str = "en",
    when_interrupted: str = "resume",
    **stages: Any,
) -> Path:
    """The file of a study with one stage of concept repair: two pictures to set right, two to leave
    alone, and the grid.

    before, after: items of the flow around the stage; stages: more of `stages`, or other values;
    with `changes` there are no other pictures.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in TEXTS.items():
        (folder / name).write_text(text, "utf-8")
    said = {
        "task": "concept-repair",
        "stimuli": str(made.folder),
        "intro": "intro.md",
        **({} if "changes" in stages else {"items": {"repair": 2, "control": 2}}),
        **stages,
    }
    flow = [*before, {"stages": said}, *after]
    return write_flow(folder / "concepts.yaml", flow, language, when_interrupted)


def parts_of(
    folder: Path, concepts: Literal[2, 4] = 2, **stages: Any
) -> tuple[ConceptRepairPart, ConceptGridPart]:
    """The stage and its grid, as planned for the first participant of such a study."""
    made = write(folder, concepts)
    loaded = loading.load(write_study(folder / "study", made, **stages))
    parts = planner.realise(loaded, "P01", space_of=lambda model: SPACE).parts
    stage = next(p for p in parts if isinstance(p, ConceptRepairPart) and p.role == "stage")
    return stage, next(p for p in parts if isinstance(p, ConceptGridPart))


@cache
def small_parts(
    concepts: Literal[2, 4] = 2, **stages: str
) -> tuple[ConceptRepairPart, ConceptGridPart]:
    """The same without a folder, made once for all tests."""
    with TemporaryDirectory() as folder:
        return parts_of(Path(folder), concepts, **stages)


class ConceptPlay(Play):
    """Sends what the runner would: Begin, and that a picture is on the screen."""

    @classmethod
    def of(cls, *parts: ConceptRepairPart | ConceptGridPart, restarts: bool = False) -> ConceptPlay:
        """A session of these parts, by default of a small stage and its grid."""
        parts = parts or small_parts()
        tasks: list[PartMachine[Any]] = [
            ConceptRepairTask(part, index)
            if isinstance(part, ConceptRepairPart)
            else ConceptGridTask(part, index)
            for index, part in enumerate(parts)
        ]
        play = cls(SessionMachine(parts, tasks, {1: "insight"}, restarts=restarts))
        play.start()
        return play

    def _automatic(self) -> None:
        while self.machine.wants_begin(self.state):
            self.store(self.machine.decide(self.state, Begin(), self.now_ns))
        asked = self.asked
        waits = asked is not None and asked.started_ns is None and asked.outcome is None
        if waits and not self.state.pauses.held:
            self.store(self.machine.decide(self.state, ShowQuestion(), self.now_ns))

    @property
    def asked(self) -> Repair | Grid | None:
        """The picture, or the grid, that is on the screen or comes next."""
        state: RepairState | GridState | None = self.state.part_state
        return state.trial if self.state.running and state is not None else None

    @property
    def repair(self) -> Repair:
        """The picture on the screen."""
        assert isinstance(self.asked, Repair)
        return self.asked

    def item(self) -> PlannedItem:
        """The same as planned."""
        part = self.machine.parts[self.state.index]
        assert isinstance(part, ConceptRepairPart)
        return part.items[self.repair.number - 1]


def no_rules(manifest: Json) -> None:
    """Nobody knows which concepts make a class."""
    for class_ in manifest["classes"]:
        del class_["concepts"]


def overlapping(manifest: Json) -> None:
    """The second class does not say what the first one has otherwise."""
    del manifest["classes"][1]["concepts"]["side"]


def one_concept(manifest: Json) -> None:
    """The set has the first of its concepts alone, and two classes."""
    manifest["concepts"] = manifest["concepts"][:1]
    manifest["classes"] = manifest["classes"][:2]
    for class_, on in zip(manifest["classes"], (True, False), strict=True):
        class_["concepts"] = {"size": on}
    model = manifest["concept_model"]
    for name in ("purity", "oracle"):
        model[name] = [model[name][0][:1]]
    for photo in manifest["photos"]:
        for name in ("beliefs", "concepts"):
            photo[name] = photo[name][:1]
        photo["truth"] = photo["prediction"] = "c1" if photo["concepts"][0] else "c2"
