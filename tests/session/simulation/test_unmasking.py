"""The simulated observer of masked pictures has the psychometric function that it says it has."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from labapp.models.stimuli.masked_pictures import sizes
from labapp.tasks.unmasking.plan import (
    PlannedMask,
    PlannedSequence,
    ResponseButton,
    StimulusTrial,
    Unmasked,
    UnmaskingPart,
)
from labapp.tasks.unmasking.simulated import (
    THRESHOLDS,
    Annotator,
    Observer,
    difficulties,
    find_predicted_class,
)
from tests.helpers.nightly import EVERYTHING

CLASSES = ("anger", "happiness")
METHODS = tuple(THRESHOLDS)
IMAGES = tuple(f"face-{number}" for number in range(10))
WRONG = frozenset(IMAGES[::3])
"""Images about which the model is wrong."""
STEADY = Observer(participants_sd=0.0, images_sd=0.0)
"""All participants and images alike, so that shares are binomial."""


def truth_of(image: str) -> str:
    return CLASSES[IMAGES.index(image) % 2]


def other(label: str) -> str:
    return CLASSES[1 - CLASSES.index(label)]


def sequence_of(image: str, method: str, *, asked: bool = True) -> PlannedSequence:
    truth = truth_of(image)
    prediction = other(truth) if image in WRONG else truth
    # On few pixels the model says the first class, on many what it says of the whole image.
    masks = tuple(
        PlannedMask(
            percent=percent,
            pixels=round(percent * 10),
            picture=f"masked:faces:{image}:{method}:mean:signed:{percent:g}",
            logits=()
            if not asked
            else ((1.0, 0.0) if percent < 15 or prediction == CLASSES[0] else (0.0, 1.0)),
        )
        for percent in sizes()
    )
    return PlannedSequence(
        image=image,
        picture=f"{image}.png",
        method=method,
        truth=truth,
        prediction=prediction,
        logits=(1.0, 0.0) if prediction == CLASSES[0] else (0.0, 1.0),
        masks=masks,
    )


def stage(*, asked: bool = True) -> UnmaskingPart:
    sequences = tuple(
        sequence_of(image, method, asked=asked) for image in IMAGES for method in METHODS
    )
    unmasked = Unmasked(
        stimuli="faces",
        manifest_sha256="0" * 64,
        set=1,
        classifier=None,
        classifier_sha256=None,
        accuracy=60.0,
        classes=CLASSES,
        methods={method: method for method in METHODS},
        percents=sizes(),
        fill="mean",
        level=(128,),
        sign="signed",
        grid=(32, 32),
    )
    # In another order than the classes: a response is a button, not a class.
    buttons = (
        ResponseButton(of="happiness", name="", key="F"),
        ResponseButton(of="anger", name="", key="J"),
        ResponseButton(of=None, name="", key="Space"),
    )
    return UnmaskingPart(
        id="stage1",
        title="Pictures",
        role="stage",
        number=1,
        of=1,
        unmasked=unmasked,
        question="",
        buttons=buttons,
        sequences=sequences,
        first=0,
        total=300,
        size_px=384,
        blank_ms=0,
        think_aloud=False,
    )


STAGE = stage()


def annotator(
    number: int, strategy: str = "understanding", observer: Observer = STEADY
) -> Annotator:
    return Annotator((7, f"P{number}", "simulated", strategy), strategy, IMAGES, observer)


def trial_at(part: UnmaskingPart, number: int, attempt: int = 1) -> StimulusTrial:
    """A stimulus of a part, due at once."""
    return StimulusTrial(number, attempt, 0, *part.at(number))


Answer = tuple[PlannedSequence, PlannedMask, str | None, float]


def answers(one: Annotator, part: UnmaskingPart = STAGE) -> Iterator[Answer]:
    for number in range(1, part.trials + 1):
        reply = one.reply(part, trial_at(part, number))
        yield *part.stimulus(*part.at(number)), part.class_of(reply.response), reply.reaction_ms


@pytest.fixture(scope="module")
def crowd() -> list[Answer]:
    return [
        answer
        for number in range(60 if EVERYTHING else 12)
        for answer in answers(annotator(number))
    ]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("percent", sizes())
def test_shares_are_those_of_the_psychometric_function(
    crowd: list[Answer], method: str, percent: float
) -> None:
    """Of 600 sequences each by night, 120 by day; one in 100,000 would be further off by chance."""
    here = [
        (sequence, label)
        for sequence, mask, label, _ in crowd
        if (sequence.method, mask.percent) == (method, percent)
    ]
    labelled = sum(label is not None for _, label in here)
    expected = float(STEADY.compute_labelling(percent, method))
    assert binomtest(labelled, len(here), expected).pvalue > 1e-5
    for wrong in (False, True):
        of = [pair for pair in here if (pair[0].image in WRONG) == wrong]
        right = sum(label == sequence.truth for sequence, label in of)
        expected = float(STEADY.correct(percent, method, model_wrong=wrong))
        assert binomtest(right, len(of), expected).pvalue > 1e-5


def test_what_is_recognised_stays_recognised() -> None:
    """Without guesses and lapses the answers of a sequence are: don't know, perhaps a wrong class,
    the right one; nothing comes back."""
    certain = Observer(guess=0.0, lapse=0.0, follows=0.5)
    orders: Counter[int] = Counter()
    for number in range(20):
        said: dict[tuple[str, str], list[str | None]] = defaultdict(list)
        for sequence, _, label, _ in answers(annotator(number, observer=certain)):
            said[sequence.image, sequence.method].append(label)
        for (image, _), labels in said.items():
            phases = [label for n, label in enumerate(labels) if n == 0 or labels[n - 1] != label]
            truth = truth_of(image)
            order = (None, other(truth), truth)
            places = [order.index(phase) for phase in phases]
            assert places == sorted(places), labels
            orders[len(phases)] += 1
    assert orders[3] > 20, "some are mistaken at first"


def test_the_threshold_is_where_half_is_recognised() -> None:
    for method, threshold in THRESHOLDS.items():
        assert STEADY.compute_recognition(threshold, method) == pytest.approx(0.5)
        assert STEADY.compute_recognition(threshold * np.exp(0.3), method, 0.3) == pytest.approx(
            0.5
        )
    assert STEADY.threshold("occlusion") == STEADY.elsewhere
    order = sorted(METHODS, key=STEADY.threshold)
    assert order == ["guided_backprop", "lrp", "gradient"], "the paper's"


@given(st.floats(0.5, 99), st.floats(-1, 1), st.sampled_from(METHODS), st.booleans())
def test_more_pixels_are_never_less(
    percent: float, offset: float, method: str, model_wrong: bool
) -> None:
    observer = Observer()
    two = [percent, percent + 1]
    labelled = observer.compute_labelling(two, method, offset)
    right = observer.correct(two, method, offset, model_wrong=model_wrong)
    for shares in (labelled, right):
        assert 0 <= shares[0] <= shares[1] <= 1
    assert (right <= labelled).all()


@given(st.sets(st.text(min_size=1, max_size=8), min_size=1, max_size=20), st.floats(0, 1))
def test_images_differ_around_nothing(images: set[str], sd: float) -> None:
    dealt = difficulties(images, sd)
    assert dealt.keys() == images
    assert sum(dealt.values()) == pytest.approx(0, abs=1e-9)
    assert dealt == difficulties(sorted(images, reverse=True), sd), "whatever their order"


def test_participants_differ_and_each_is_the_same_again() -> None:
    people = [annotator(number, observer=Observer(participants_sd=0.3)) for number in range(400)]
    offsets = np.array([one.offset for one in people])
    assert offsets.std() == pytest.approx(0.3, rel=0.12)
    assert abs(offsets.mean()) < 0.06
    first = list(answers(annotator(1)))
    assert first == list(answers(annotator(1)))
    assert first != list(answers(annotator(2)))


def test_a_repeated_stimulus_is_seen_as_before_and_answered_anew() -> None:
    certain = Observer(guess=0.0, lapse=0.0)
    one, again = annotator(1, observer=certain), annotator(1, observer=certain)
    for number in range(1, STAGE.trials + 1):
        first, second = (
            one.reply(STAGE, trial_at(STAGE, number)),
            again.reply(STAGE, trial_at(STAGE, number, 2)),
        )
        assert first.response == second.response
        assert first.reaction_ms != second.reaction_ms


def test_reaction_times_are_a_persons_and_longest_around_the_threshold(crowd: list[Answer]) -> None:
    times = np.array([time for *_, time in crowd])
    assert times.min() > 250
    assert times.max() <= STEADY.slowest_ms
    assert 500 < np.median(times) < 1200
    mean = {
        percent: np.mean([time for _, mask, _, time in crowd if mask.percent == percent])
        for percent in sizes()
    }
    assert max(mean, key=mean.__getitem__) in (8, 11, 15, 19)
    assert mean[60] < 0.85 * max(mean.values())


def test_who_follows_the_model_says_what_it_says_of_the_masked_picture() -> None:
    for sequence, mask, label, _ in answers(annotator(1, "explanation")):
        assert (
            label
            == CLASSES[int(np.argmax(mask.logits))]
            == find_predicted_class(STAGE, sequence, mask)
        )
    for sequence, _, label, _ in answers(annotator(1, "explanation"), stage(asked=False)):
        assert label == sequence.prediction


@pytest.mark.parametrize("strategy", ["random", "careless"])
def test_who_guesses_presses_each_button_as_often(strategy: str) -> None:
    pressed = Counter(
        label for number in range(10) for *_, label, _ in answers(annotator(number, strategy))
    )
    for label in (*CLASSES, None):
        assert binomtest(pressed[label], 3000, 1 / 3).pvalue > 1e-4
