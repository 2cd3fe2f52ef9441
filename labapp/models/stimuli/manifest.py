"""What a stimulus set says of itself: `manifest.json` in its folder.

A stimulus set is what one method's explanations look like on many photos: the photos in numbered
sets of which a participant sees one, and with each its explanation. `labapp stimuli schema` prints
these models as a JSON Schema.

Three kinds of explanation (paper 003, section 3): `heatmaps`, one per class, on one scale for all
classes of a photo (GradCAM, BagNet); `prototypes`, rows that compare a region of the photo with a
part of a training photo (ProtoPNet); `path`, such rows as the steps of a decision tree (ProtoTree).
And one that shows parts of the photo itself (paper 004, section 3.4): `scores`, a number for every
pixel and method, by which pixels are ranked and the photo is masked
(`labapp.models.stimuli.masked_pictures`). And one of a model that believes in concepts and can be
corrected in them: `interventions`, what it answers to a photo in every state of its concepts
(`labapp.models.stimuli.interventions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    FailFast,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
)

from labapp.base.documents import ID, LANGUAGE, Language, Strict
from labapp.base.naming import NotReserved

Kind = Literal["heatmaps", "prototypes", "path", "scores", "interventions"]
ItemType = Literal["repair", "trap", "unrepairable", "control"]
"""What corrections do to a photo, see `labapp.models.stimuli.interventions.item_type`."""
Fill = Literal["mean", "black", "grey", "white"]
"""What masked pixels become: the mean of the set's pictures, 0, the middle of the scale, or 1."""
Sign = Literal["signed", "absolute"]
"""Whether pixels are ranked by their score, or by its absolute value."""
Scale = Literal["positive", "signed", "ready"]
ColourMap = Literal["jet", "rdbu_r", "inferno", "cividis", "puor_r"]
"""What grey heatmaps are coloured with. jet and rdbu_r are the published ones; rdbu_r and puor_r
are for signed heatmaps."""
SET_ID = r"^[a-z0-9]+(-[a-z0-9]+)*$"
FILE = r"[^/\\:\x00-\x1f][^\\:\x00-\x1f]*\.([pP][nN][gG]|[jJ][pP][eE]?[gG])"
SCORES = r"^[^/\\:\x00-\x1f][^\\:\x00-\x1f]*\.npy$"
BIRD = r"bird:[0-9]+:(train|validation|test):[0-9]+:[0-9]+"
SHARED = rf"set:[a-z0-9]+(-[a-z0-9]+)*/{FILE}"
PICTURE = rf"^({FILE}|{BIRD}|{SHARED})$"
PATTERNS = {
    ID: "letters A to Z, digits, _ . and - are allowed, a letter or digit first",
    LANGUAGE: "give the code of a language, such as de or de-AT",
    SET_ID: "lower-case letters a to z and digits are allowed, with - between them",
    SCORES: "give a .npy file inside the folder",
    PICTURE: "give a .png or .jpg file inside the folder, a file of another set as "
    "set:ID/FILE, or bird:SEED:PART:SPECIES:NUMBER",
}
"""What the patterns allow, in words."""
Id = Annotated[str, Field(pattern=ID, max_length=100)]
Picture = Annotated[str, Field(pattern=PICTURE, max_length=300)]
"""A picture: the name of a PNG or JPEG file in the folder; `set:ID/FILE`, a file of the set whose
folder ID lies beside this one, so that sets of several models need their pictures once; or
`bird:SEED:PART:SPECIES:NUMBER`, a bird that is painted if it is needed
(labapp.models.datasets.birds; SPECIES from 0)."""
ScoreFile = Annotated[str, Field(pattern=SCORES, max_length=300)]
"""Scores of pixels: the name of a .npy file with real numbers, shape (rows, columns); each stands
for a block of the picture, whose height and width are whole multiples of it."""
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
AT_ONCE = 200
"""Photos that are read before the next are looked at."""
T = TypeVar("T")
Every = Annotated[tuple[T, ...], FailFast()]
"""Any number of them; a list is read to its first fault, for a file may have millions."""
Matrix = Every[Every[Share]]
"""Of pairs of concepts, a row for the concept whose code it is."""
Logits = Every[float]
"""What a model makes of a photo before any softmax, one number per class."""
Finite = Annotated[float, Field(allow_inf_nan=False)]
Box = tuple[Share, Share, Share, Share]
"""Left, top, right and bottom, as shares of the picture's width and height."""

W = TypeVar("W")


class ClassWords(Strict):
    """A class's words in another language.

    Attributes
    ----------
    name : what a participant may be told the class is called; without one it keeps its own.
    marks : what it can be told by, in a line.
    """

    name: str | None = Field(default=None, min_length=1)
    marks: str = ""


class Class_(Strict):
    """A class the model tells apart.

    Attributes
    ----------
    id : its name in tables.
    name : what a participant may be told it is called.
    marks : what it can be told by, in a line, if the name alone says nothing.
    concepts : of an `interventions` set, by id the concepts that make the class, on (true) or off
        (false), all of them together; those that are left out may be either.
    translations : of an `interventions` set, name and marks by language; studies in any other take
        those above.
    """

    id: Id
    name: str = Field(min_length=1)
    marks: str = ""
    concepts: dict[Id, bool] = Field(default_factory=dict)
    translations: dict[Language, ClassWords] = Field(default_factory=dict)

    def in_language(self, language: str) -> Class_:
        """The class with its words in a language, if it has them; else as it is."""
        words = _in_language(self.translations, language) or ClassWords(marks=self.marks)
        own = {"name": words.name or self.name, "marks": words.marks}
        return self.model_copy(update={**own, "translations": {}})


class Method(Strict):
    """What explains, and the model that it explains.

    Attributes
    ----------
    name : what the method is called.
    accuracy : of the explained model on its test photos, in percent.
    classifier : the model package, if there is one.
    sha256 : the hash of its weights, if there is one.
    """

    name: str = Field(min_length=1)
    accuracy: float = Field(ge=0, le=100, allow_inf_nan=False)
    classifier: str | None = None
    sha256: str | None = None


class Classifier(Strict):
    """The classifier of a lab's own that was explained, by what it answers.

    Attributes
    ----------
    file : the name of the file that it came as.
    format : of the file.
    sha256 : the hash of the file.
    size : width and height of the pictures that it takes, in pixels.
    channels : 1 for grey, 3 for red, green and blue.
    mean : subtracted from levels 0 to 1, one or one per channel.
    std : by which they are divided then.
    pictures : how many it was tried on; `method` has its accuracy on them.
    """

    file: str = Field(min_length=1)
    format: Literal["onnx", "torchscript", "torch-export"]
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = Field(ge=1)
    channels: Literal[1, 3]
    mean: Every[Finite] = (0.0,)
    std: Every[Finite] = (1.0,)
    pictures: int = Field(ge=1)


class Prototype(Strict):
    """A part of a training photo.

    Attributes
    ----------
    id : its name in tables.
    of : its class (a tree's prototypes have none).
    photo : the training photo.
    box : where it is in `photo`: left, top, right and bottom, 0 to 1.
    crop : a picture of it, if it is not cut out by the box.
    """

    id: Id
    of: Id | None = None
    photo: Picture
    box: Box | None = None
    crop: Picture | None = None


class Row(Strict):
    """A region of the photo beside a prototype.

    Attributes
    ----------
    prototype : the id of the prototype.
    region : where in the photo: left, top, right and bottom, 0 to 1.
    crop : a picture of the region, if it is not cut out.
    similarity : as the method has it.
    rank : from 1, the most similar of the rows of its class.
    present : a tree's decision at this step.
    """

    prototype: Id
    region: Box | None = None
    crop: Picture | None = None
    similarity: Finite | None = None
    rank: int | None = Field(default=None, ge=1)
    present: bool | None = None


class FinalSteps(Strict):
    """The last two decisions of a path, left to the participant (paper 003, distinction with
    ProtoTree).

    Attributes
    ----------
    first : the step two above the leaf.
    absent : the step that follows if the first is absent.
    present : the step that follows if the first is present.
    classes : of absent-absent, absent-present, present-absent, present-present.
    """

    first: Row
    absent: Row
    present: Row
    classes: tuple[Id, Id, Id, Id]


class ScoredMethod(Strict):
    """A method that gives every pixel a score.

    Attributes
    ----------
    id : its name in tables.
    name : as tables and figures call it.
    """

    id: Id
    name: str = Field(min_length=1)


class MaskedOutput(Strict):
    """What the model makes of a masked photo, if the model itself is not at hand.

    Attributes
    ----------
    method : the id of the method.
    percent : of the pixels that are shown.
    fill : what masked pixels are.
    sign : whether pixels are ranked by their score, or by its size.
    logits : one per option, before any softmax.
    """

    method: Id
    percent: float = Field(gt=0, le=100, allow_inf_nan=False)
    fill: Fill
    sign: Sign
    logits: Every[Finite]


def _in_language(translations: Mapping[str, W], language: str) -> W | None:
    """Words in a language, also if they are for all its regions; None if there are none."""
    return translations.get(language) or translations.get(language.partition("-")[0])


class ConceptWords(Strict):
    """A concept's words in another language.

    Attributes
    ----------
    name : what participants are told the concept is called.
    off : the word for a photo without it.
    on : the word for a photo with it.
    """

    name: str = Field(min_length=1)
    off: str = Field(min_length=1)
    on: str = Field(min_length=1)


class Concept(Strict):
    """Something that a photo shows or does not, and that the model has a belief about.

    Attributes
    ----------
    id : its name in tables.
    name : what participants are told it is called.
    off : the word for a photo without it.
    on : the word for a photo with it.
    right : which of the two words stands on the right of its switch, where → sets it: `on`, or
        `off` for a concept such as "right" (off) and "left" (on).
    translations : these words by language; studies in any other take those above.
    """

    id: Id
    name: str = Field(min_length=1)
    off: str = Field(min_length=1)
    on: str = Field(min_length=1)
    right: Literal["on", "off"] = "on"
    translations: dict[Language, ConceptWords] = Field(default_factory=dict)

    @field_validator("right", mode="before")
    @classmethod
    def _as_written(cls, side: Any) -> Any:
        """YAML reads the words off and on as false and true."""
        return {False: "off", True: "on"}[side] if isinstance(side, bool) else side

    def in_language(self, language: str) -> Concept:
        """The concept with its words in a language, if it has them; else as it is."""
        words = _in_language(self.translations, language)
        own = {} if words is None else words.model_dump()
        return self.model_copy(update={**own, "translations": {}})


class ConceptModel(Strict):
    """The concept learner whose answers an `interventions` set has. Participants never see this.

    Attributes
    ----------
    model : its id.
    sha256 : the hash of its weights, if they are at hand.
    learner : the name of its method.
    task_accuracy : on its test photos, in percent.
    concept_accuracy : mean over concepts, in percent.
    scores : what measures say of it, by name, such as ois and nis.
    purity : how well the code of the concept of the row tells the concept of the column, an area
        under the ROC curve.
    oracle : the same of the true concepts.
    """

    model: str = Field(min_length=1)
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    learner: str = Field(min_length=1)
    task_accuracy: float = Field(ge=0, le=100, allow_inf_nan=False)
    concept_accuracy: float = Field(ge=0, le=100, allow_inf_nan=False)
    scores: dict[Id, Finite] = Field(default_factory=dict)
    purity: Matrix
    oracle: Matrix


class Confusion(Strict):
    """How many photos of a class the model takes for which.

    Attributes
    ----------
    truth : the class of the photos.
    prediction : the class for which the model takes them.
    count : how many.
    """

    truth: Id
    prediction: Id
    count: int = Field(ge=0)


class Photo(Strict):
    """A photo and what the model makes of it.

    Attributes
    ----------
    id : its name in tables.
    set : the number of its set, from 1; none for the worked examples.
    photo : the picture: a .png or .jpg file below the folder.
    truth : its class.
    prediction : the class for which the model takes it.
    options : the classes to choose from, in the order they are shown.
    heatmaps : one per option, in the same order.
    rows : for `prototypes` the rows of the predicted class, or of all options, most similar first;
        for `path` the steps from the root.
    final : the last two decisions of a path, if they are left to the participant.
    first_wrong : the first step after which the true class can no longer be reached, from 1; none
        if there is none.
    logits : one per option, before any softmax.
    strengths : how much each heatmap shows, as someone who follows the heatmaps would read them
        (GradCAM: its peak; BagNet: its sum).
    facts : what else is known, for tables.
    scores : by method its scores, of a `scores` set, where the options are all classes and logits
        are needed.
    masked : what the model makes of the masked photo, if the model is not at hand.
    beliefs : of an `interventions` set, how sure the model is of each concept, from 0 (off) to 1
        (on).
    concepts : whether each concept is there in truth.
    item : what corrections do to it; none if they do nothing that the types name.
    natural : whether it was drawn from all photos, whatever the model makes of it; the others were
        chosen by their type.
    """

    id: Id
    set: int | None = Field(default=None, ge=1)
    photo: Picture
    truth: Id
    prediction: Id
    options: Every[Id] = ()
    heatmaps: Every[Picture] = ()
    rows: Every[Row] = ()
    final: FinalSteps | None = None
    first_wrong: int | None = Field(default=None, ge=1)
    logits: Every[Finite] = ()
    strengths: Every[Finite] = ()
    facts: dict[str, Finite] = Field(default_factory=dict)
    scores: dict[str, ScoreFile] = Field(default_factory=dict)
    masked: Every[MaskedOutput] = ()
    beliefs: Every[Share] = ()
    concepts: Every[bool] = ()
    item: ItemType | None = None
    natural: bool = False

    @property
    def correct(self) -> bool:
        """Whether the model is right."""
        return self.truth == self.prediction


def _to_first_faults(photos: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """Read photos, a few at a time, up to those with a fault: a file may have a million faults."""
    if not isinstance(photos, list):
        return handler(photos)
    read: list[Any] = []
    for start in range(0, max(1, len(photos)), AT_ONCE):
        some = photos[start : start + AT_ONCE]
        try:
            read += handler(some)
        except ValidationError:
            handler([*read, *some])  # which names them by their places in the whole
            raise
    return tuple(read)


class Manifest(Strict):
    """A stimulus set.

    Attributes
    ----------
    format : the number of this format.
    id : its name, which studies give.
    title : what people read.
    source : where it is from.
    chosen_from : which pictures its photos were chosen from, and by which rule.
    licence : under which it may be used.
    kind : of explanation: `heatmaps`, `prototypes`, `path`, `scores` or `interventions`.
    method : what explains, and the explained model; in a `scores` set only the model.
    classifier : the card of a lab's own classifier, which came in by `labapp stimuli explain`.
    classes_are : what the texts call the classes.
    invented : whether the classes' names are made up, so that nobody knows them before.
    scale : what grey heatmaps mean: 0 to 1 (`positive`), or -1 to 1 with the middle grey for 0
        (`signed`); `ready` if they are coloured already.
    classes : the classes that the model tells apart.
    prototypes : the parts of training photos that its rows name.
    photos : the photos of all sets.
    correct_example : a worked example for the introduction that the model has right.
    incorrect_example : a worked example for the introduction that the model has wrong.
    tree : a picture of the whole tree.
    methods : of a `scores` set, in the order they are listed.
    mean_level : of a `scores` set, the mean of the pictures that `fill: mean` means: one of grey or
        three of red, green and blue, from 0 to 1.
    pool : of a `scores` set, how the model does on all the photos from which these were chosen
        (paper 004, tables 1 and 2).
    concepts : of an `interventions` set, in the order of beliefs and states.
    concept_model : of an `interventions` set, the model.
    answers : of an `interventions` set, the file of what the model answers to each photo in every
        state of its concepts.
    seed : from which the set was made.
    made_with : with what the set was made.
    """

    format: Literal[1] = 1
    id: Annotated[str, Field(pattern=SET_ID, max_length=60), NotReserved]
    title: str = Field(min_length=1)
    source: str = ""
    chosen_from: str = ""
    licence: str = ""
    kind: Kind
    method: Method
    classifier: Classifier | None = None
    classes_are: Literal["objects", "species"]
    invented: bool = False
    scale: Scale | None = None
    classes: Every[Class_] = Field(min_length=2)
    prototypes: Every[Prototype] = ()
    photos: Annotated[tuple[Photo, ...], Field(min_length=1), WrapValidator(_to_first_faults)]
    correct_example: Photo | None = None
    incorrect_example: Photo | None = None
    tree: Picture | None = None
    methods: Every[ScoredMethod] = ()
    mean_level: tuple[Share] | tuple[Share, Share, Share] | None = None
    pool: Every[Confusion] = ()
    concepts: Every[Concept] = ()
    concept_model: ConceptModel | None = None
    answers: ScoreFile | None = None
    seed: int | None = None
    made_with: str = ""

    @property
    def sets(self) -> tuple[int, ...]:
        """The numbers of the sets."""
        return tuple(sorted({photo.set for photo in self.photos if photo.set is not None}))

    def of_set(self, number: int) -> tuple[Photo, ...]:
        """The photos of a set, in the order of the manifest."""
        return tuple(photo for photo in self.photos if photo.set == number)
