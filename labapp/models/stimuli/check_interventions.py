"""Whether a set of interventions fits together, and whether its answers are those of its photos."""

from __future__ import annotations

from collections.abc import Iterator

from labapp.base.errors import StimuliError
from labapp.models.stimuli import answer_files, interventions, pictures
from labapp.models.stimuli.check_photos import Fault, PictureFiles, twice
from labapp.models.stimuli.interventions import AS_IT_IS, Answers
from labapp.models.stimuli.manifest import Manifest, Photo
from labapp.models.stimuli.sources import ReadableSet


def intervention_set_faults(manifest: Manifest) -> Iterator[Fault]:
    """Faults of what a set of interventions says of itself."""
    count = len(manifest.concepts)
    if not count:
        yield ("concepts",), "missing; list the concepts that can be set"
    if count > interventions.MOST_CONCEPTS:
        fault = f"found {count}; at most {interventions.MOST_CONCEPTS} can be shown and looked up"
        yield ("concepts",), fault
    for key in ("id", "name"):
        for text in twice(getattr(concept, key) for concept in manifest.concepts):
            yield ("concepts",), f"two concepts have the {key} {text!r}"
    for place, concept in enumerate(manifest.concepts):
        if concept.on == concept.off:
            yield ("concepts", place, "on"), f"found {concept.on!r} for on and for off"
    if manifest.answers is None:
        yield ("answers",), "missing; name the .npy file of what the model answers"
    if (model := manifest.concept_model) is None:
        yield ("concept_model",), "missing; say which model gave the answers"
    else:
        for key in ("purity", "oracle"):
            rows = getattr(model, key)
            if len(rows) != count or any(len(row) != count for row in rows):
                fault = f"found {_shape(rows)}; {count} x {count} are needed, one a concept"
                yield ("concept_model", key), fault
    ids = [concept.id for concept in manifest.concepts]
    for place, class_ in enumerate(manifest.classes):
        for name in class_.concepts:
            if name not in ids:
                yield ("classes", place, "concepts"), f"{name!r} is not among the concepts"
    yield from _translation_faults(manifest)
    for key in ("correct_example", "incorrect_example"):
        if getattr(manifest, key) is not None:
            yield (key,), "a set of interventions has none: practice is made of its own photos"


def _translation_faults(manifest: Manifest) -> Iterator[Fault]:
    """A language is that of all concepts and of all marks, or of none; its words differ."""
    of_concepts = {language for each in manifest.concepts for language in each.translations}
    of_classes = {language for each in manifest.classes for language in each.translations}
    for language in sorted(of_concepts | of_classes):
        for place, concept in enumerate(manifest.concepts):
            words = concept.translations.get(language)
            if words is None:
                fault = f"there are no words in {language!r}, which others have"
                yield ("concepts", place, "translations"), fault
            elif words.on == words.off:
                at = ("concepts", place, "translations", language, "on")
                yield at, f"found {words.on!r} for on and for off"
        for place, class_ in enumerate(manifest.classes):
            if class_.marks and not getattr(class_.translations.get(language), "marks", ""):
                fault = f"there are no marks in {language!r}, which others have"
                yield ("classes", place, "translations"), fault
        names = {
            "concepts": [each.in_language(language).name for each in manifest.concepts],
            "classes": [each.in_language(language).name for each in manifest.classes],
        }
        for what, own in names.items():
            for text in twice(own):
                yield (what,), f"two {what} have the name {text!r} in {language!r}"


def _shape(rows: tuple[tuple[float, ...], ...]) -> str:
    return f"{len(rows)} x {len(rows[0]) if rows else 0}"


def intervention_photo_faults(photo: Photo, manifest: Manifest) -> Iterator[Fault]:
    """Faults of a photo, each with its place within the photo."""
    classes = tuple(class_.id for class_ in manifest.classes)
    if photo.options and photo.options != classes:
        yield (
            ("options",),
            f"leave them out, or give all classes in their order ({', '.join(classes)})",
        )
    count = len(manifest.concepts)
    for key in ("beliefs", "concepts"):
        if len(getattr(photo, key)) != count:
            yield (key,), f"found {len(getattr(photo, key))} values, but {count} concepts"
    if len(photo.concepts) != count:
        return
    truth = next((class_ for class_ in manifest.classes if class_.id == photo.truth), None)
    for concept, there in zip(manifest.concepts, photo.concepts, strict=True):
        if truth is not None and truth.concepts.get(concept.id, there) != there:
            fault = f"{concept.id!r} is {_word(there)}, but class {truth.id!r} needs it "
            yield ("concepts",), f"{fault}{_word(not there)}"


def _word(there: bool) -> str:
    return "on" if there else "off"


def intervention_file_faults(
    stimulus_set: ReadableSet, picture_files: PictureFiles
) -> Iterator[Fault]:
    """Faults of the file of answers, and of photos beside it; what can be read joins the files."""
    manifest = stimulus_set.manifest
    ref = manifest.answers
    if ref is None:
        return
    try:
        content = pictures.content_of(picture_files.folder, ref, answer_files.ANSWERS)
        answers = answer_files.decode(content, ref)
    except StimuliError as error:
        yield ("answers",), f"{error.what} {error.todo}"
        return
    picture_files.files[ref] = content
    if not stimulus_set.whole:
        return  # which row is of which photo cannot be told
    wanted = (len(manifest.photos), 3 ** len(manifest.concepts), len(manifest.classes))
    if answers.shape != wanted:
        yield ("answers",), f"{ref!r} has the shape {answers.shape}; {wanted} is needed"
        return
    for number, photo in enumerate(manifest.photos):
        for inner, fault in answer_faults(photo, manifest, answers[number]):
            yield ("photos", number, *inner), fault


def answer_faults(photo: Photo, manifest: Manifest, answers: Answers) -> Iterator[Fault]:
    """What a photo says that its answers do not."""
    classes = [class_.id for class_ in manifest.classes]
    count = len(manifest.concepts)
    if photo.truth not in classes or {len(photo.beliefs), len(photo.concepts)} != {count}:
        return
    answer = classes[int(answers[interventions.place([AS_IT_IS] * count)].argmax())]
    if photo.prediction in classes and photo.prediction != answer:
        yield ("prediction",), f"found {photo.prediction!r}, but the answers have {answer!r}"
    truth = classes.index(photo.truth)
    item = interventions.item_type(answers, photo.beliefs, photo.concepts, truth)
    if photo.item != item:
        yield ("item",), f"found {photo.item or 'none'}; by its answers it is {item or 'none'}"


def intervention_warnings(manifest: Manifest) -> Iterator[str]:
    """What can be shown, but is probably a mistake."""
    if not all(class_.concepts for class_ in manifest.classes):
        yield (
            "not every class says which concepts make it: there is no practice with perfect "
            "switches, and no side effect can be told"
        )
    ruled = [class_ for class_ in manifest.classes if class_.concepts]
    places = {concept.id: place for place, concept in enumerate(manifest.concepts)}
    both = interventions.first_overlap(
        [{places[name]: on for name, on in class_.concepts.items()} for class_ in ruled]
    )
    if both is not None:
        first, second = (ruled[place].id for place in both)
        yield (
            f"one state of the concepts makes both the classes {first!r} and {second!r}: nobody "
            "can tell them apart then, and there is no practice with perfect switches"
        )
