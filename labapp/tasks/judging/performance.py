"""What a participant is told of their performance in a task that judges explanations.

Source: paper 003, figures A17 and A18, and its released pages. Distinction and output prediction:
the share of photos with the right answer. Agreement: half of the photos, those with the highest
ratings, are taken as believed correct, and what is so assigned is compared with what the model got
right. The published split is at the median; a seeded coin decides among the photos of the median
rating, and the event holds what it decided. `expected_hits` is the score without the coin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from statistics import median

import numpy as np

from labapp.study.conditions import attempt_at, generator
from labapp.tasks.judging.events import PerformanceComputed, PhotoJudged
from labapp.tasks.judging.plan import (
    AGREEMENT,
    DISTINCTION,
    OUTPUT,
    JudgingPart,
    JudgingTask,
    PlannedPhoto,
    applies,
    find_chosen_class,
    options_of,
    questions,
)

Answers = Mapping[str, int]
BELIEVED = 3
"""Ratings of agreement from here on say that the prediction is correct."""


def list_scored_questions(task: JudgingTask) -> tuple[str, ...]:
    """The questions by which the performance in a task is told."""
    if task == "heatmap-distinction":
        return (OUTPUT, DISTINCTION)
    return (DISTINCTION,) if task.endswith("distinction") else (AGREEMENT,)


ACHIEVED = (
    *(f"right_{question}{of}" for question in (OUTPUT, DISTINCTION) for of in ("", "_percent")),
    *(f"{what}_{side}" for what in ("photos", "hits", "own") for side in ("correct", "incorrect")),
    "believed",
)
"""The names in `values` that say nothing before the stage was judged, or in another task."""

PLACEHOLDERS = {
    "method": "the name of the explanation method",
    "accuracy": "the accuracy of the explained model on its test pictures, in percent",
    "classes": "how many classes the model tells apart",
    "things": "what the classes are, such as bird species",
    "hot": "the colour of regions that speak for a class; empty without heat maps",
    "cold": "the colour of regions that speak against it; empty without heat maps",
    "scale_text": "a sentence on the colours of heat maps; empty without them",
    "right_example": "the class of the worked example that the model has right",
    "wrong_example": "the class of the worked example that the model has wrong",
    "wrong_prediction": "the class that the model gives that one",
    "row_order": "a sentence on the order of the rows",
    "photos": "how many photos the stage has; in a text on results, how many were judged",
    "options": "how many classes there are to choose from",
    "chance": "what random guessing gets right, in percent",
    "right_output": "how often the model's prediction was named rightly",
    "right_output_percent": "the same in percent of the photos",
    "right_distinction": "how often the class was named rightly from the explanations",
    "right_distinction_percent": "the same in percent of the photos",
    "photos_correct": "how many of the photos the model has right",
    "photos_incorrect": "how many of the photos the model has wrong",
    "hits_correct": "of the photos that the model has right, how many were believed correct",
    "hits_incorrect": "of the photos that the model has wrong, how many were believed wrong",
    "own_correct": "a list of the own ratings of the photos that the model has right",
    "own_incorrect": "a list of the own ratings of the photos that the model has wrong",
    "believed": "how many photos were believed to be predicted correctly",
}
"""What the names in braces stand for that texts of these tasks can say."""


def mark_answers(task: JudgingTask, photo: PlannedPhoto, answers: Answers) -> dict[str, bool]:
    """Whether each final answer about a photo is right, by question, where that can be said.

    Two entries are more than one answer being right: `agreement`, whether the rating is on the
    side of what the model did; and `distinction` with a path, whether both steps lead to the class.
    """
    right = {
        question.id: answers[question.id] == question.right
        for question in questions(task, photo)
        if question.right is not None and applies(question, answers) and question.id in answers
    }
    if AGREEMENT in answers:
        right[AGREEMENT] = (answers[AGREEMENT] >= BELIEVED) == photo.correct
    if task == "path-distinction":
        right[DISTINCTION] = find_chosen_class(photo, answers) == photo.truth
    return right


def compute(
    part: JudgingPart,
    judged: Mapping[int, Answers],
    seed: int,
    study: str,
    participant: str,
    attempt: int = 1,
) -> PerformanceComputed:
    """The performance in a stage. judged: number of a photo, from 1 -> its final answers; photos
    that were not judged count for nothing. seed, study, participant: for the coin among ties."""
    photos = [(part.photos[number - 1], judged[number]) for number in sorted(judged)]
    counts = dict.fromkeys(list_scored_questions(part.task), 0)
    for photo, answers in photos:
        for question, right in mark_answers(part.task, photo, answers).items():
            counts[question] = counts.get(question, 0) + right
    rated = [(photo, answers[AGREEMENT]) for photo, answers in photos if AGREEMENT in answers]
    if AGREEMENT not in counts:
        return PerformanceComputed(len(photos), counts, {}, (), None, None)
    if not rated:
        return PerformanceComputed(len(photos), counts, {}, (), 0, 0.0)
    correct = [photo.correct for photo, _ in rated]
    ratings = [rating for _, rating in rated]
    coin = generator(seed, study, participant, attempt_at(part.id, attempt), "ties")
    assigned = split(ratings, coin)
    middle = median(ratings)
    return PerformanceComputed(
        photos=len(photos),
        right=counts,
        assigned={photo.id: side for (photo, _), side in zip(rated, assigned, strict=True)},
        ties=tuple(photo.id for photo, rating in rated if rating == middle),
        hits=sum(side == is_so for side, is_so in zip(assigned, correct, strict=True)),
        expected_hits=float(expected_hits(ratings, correct)),
    )


def split(ratings: Sequence[int], coin: np.random.Generator) -> tuple[bool, ...]:
    """Whether each photo is taken as believed correct: those above the median are, those below are
    not. For those at the median, in the order given, a coin is thrown until one side is full; the
    side of the believed holds half of the photos (one less than the other where they are odd)."""
    middle, half = median(ratings), len(ratings) // 2
    room = {
        True: half - sum(rating > middle for rating in ratings),
        False: len(ratings) - half - sum(rating < middle for rating in ratings),
    }
    sides = []
    for rating in ratings:
        side = rating > middle
        if rating == middle:
            side = bool(coin.integers(2))
            side = side if room[side] else not side
            room[side] -= 1
        sides.append(side)
    return tuple(sides)


def expected_hits(ratings: Sequence[int], correct: Sequence[bool]) -> Fraction:
    """Photos assigned as they are, the mean over all ways to break the ties: of k ties of which c
    are correct, s places are left among the believed, so s c / k of them are hit on average (the
    mean of a hypergeometric distribution), and likewise on the other side."""
    middle, half = median(ratings), len(ratings) // 2
    both = list(zip(ratings, correct, strict=True))
    sure = sum((rating > middle) == is_so for rating, is_so in both if rating != middle)
    tied = [is_so for rating, is_so in both if rating == middle]
    if not tied:
        return Fraction(sure)
    k, c = len(tied), sum(tied)
    s = half - sum(rating > middle for rating in ratings)
    return sure + Fraction(s * c + (k - s) * (k - c), k)


def percent(count: int, of: int) -> str:
    return f"{100 * count / of:.1f}" if of else "0.0"


def values(
    part: JudgingPart,
    performance: PerformanceComputed,
    answers: Mapping[int, Answers],
    say: Callable[[int, int], str] = "{}: {}".format,
) -> dict[str, str]:
    """The values for a text about the performance, by their names in braces.

    answers: number of a photo -> its final answers; say: the words for a photo's number and its
    rating of agreement. They make a Markdown list of the photos that the model has right
    (own_correct) and one of those it has wrong (own_incorrect), as they were seen. believed: how
    many were taken as believed correct, which need not be as many as the model has right. Names
    without a meaning in this task are left out.
    """
    result = {
        "method": part.explained.method,
        "accuracy": f"{part.explained.accuracy:.1f}",
        "photos": str(performance.photos),
    }
    for question in (OUTPUT, DISTINCTION):
        if question in performance.right:
            count = performance.right[question]
            result[f"right_{question}"] = str(count)
            result[f"right_{question}_percent"] = percent(count, performance.photos)
    if performance.hits is None:
        return result
    result["believed"] = str(sum(performance.assigned.values()))
    for name, wanted in (("correct", True), ("incorrect", False)):
        of = [
            (number, photo.id)
            for number, photo in enumerate(part.photos, start=1)
            if photo.correct == wanted and AGREEMENT in answers.get(number, {})
        ]
        result[f"photos_{name}"] = str(len(of))
        result[f"hits_{name}"] = str(sum(performance.assigned[id_] == wanted for _, id_ in of))
        own = (say(number, answers[number][AGREEMENT]) for number, _ in of)
        result[f"own_{name}"] = "\n".join(f"- {line}" for line in own)
    return result


SCORED = (OUTPUT, DISTINCTION, AGREEMENT)
"""The questions about a photo that can be answered rightly by guessing: agreement in half of the
photos, the others in one of as many as there are classes to choose from."""


def scores(payload: PhotoJudged) -> Mapping[str, bool]:
    """Of the scored questions about a photo, whether the answer was right."""
    return {name: payload.right[name] for name in SCORED if name in payload.right}


def above_chance(part: JudgingPart, photos: Sequence[Mapping[str, bool]]) -> Fraction:
    """The photos of a stage answered rightly beyond what guessing gets right."""
    beyond = Fraction(0)
    for question in SCORED:
        answers = [right[question] for right in photos if question in right]
        options = 2 if question == AGREEMENT else options_of(part.task, part.photos)
        guessed = Fraction(len(answers), options)
        beyond += max(Fraction(0), sum(answers) - guessed)
    return beyond
