"""The columns of the tables of judged explanations (paper 003)."""

from __future__ import annotations

from labapp.analysis.column import INCLUDED, STALLED, WHO, number, seconds, text, whole, yes
from labapp.analysis.task_records import TaskTables

_WHERE = (
    text("stage", "id of the plan's part"),
    whole("stage_number", "place of the stage among the stages; of the warm-up 1"),
    text(
        "task",
        "heatmap-distinction, prototype-distinction, prototype-agreement, path-distinction, "
        "path-agreement, path-first-step, or warm-up (exercises with a decision tree)",
    ),
    text("method", "name of the explanation method"),
    yes("labels", "the true class was told"),
    yes("invented", "the names of the classes are made up: nobody knew them before"),
    whole("set", "number of the set of photos; empty in the warm-up"),
    whole("trial", "place of the photo in its stage, from 1"),
    whole("attempt", "attempt at the photo, from 1"),
    text("photo", "id of the photo, of the exercise in the warm-up"),
    text("truth", "id of the true class"),
    text("prediction", "id of the class that the model predicts"),
    yes("model_correct", "the model is right"),
)
_EXCLUDED = (
    yes("excluded", "an attempt that does not count"),
    text("excluded_because", "why it does not count"),
    INCLUDED,
)

ANSWERS_TO = (
    whole("output", "which class the model predicts: place among the options, from 1"),
    whole("output_confidence", "1 not confident at all to 5 completely confident", "1-5"),
    whole("distinction", "which class is correct: place among the options, from 1"),
    whole("distinction_confidence", "1 not confident at all to 5 completely confident", "1-5"),
    whole(
        "agreement",
        "what is thought of the prediction: 1 fairly, 2 somewhat confident that it is incorrect, "
        "3 somewhat, 4 fairly confident that it is correct",
        "1-4",
    ),
    whole("step_1", "the last step but one of the tree: 1 absent, 2 present"),
    whole("step_2_absent", "the last step, reached by absent: 1 absent, 2 present"),
    whole("step_2_present", "the last step, reached by present: 1 absent, 2 present"),
    whole(
        "first_step",
        "the first step disagreed with, from 1; one more than there are steps: agreed with all",
    ),
    whole("verdict", "warm-up: 1 the prediction is incorrect, 2 it is correct"),
    whole("mistake", "warm-up: the first mistake: 1 colour, 2 count, 3 shape, 4 none"),
)
"""A column a question, named like it; empty where it was not asked, or not answered."""

JUDGEMENTS = (
    *WHO,
    *_WHERE,
    text("picture", "the picture of the photo, as the stimulus set names it"),
    text(
        "options",
        "ids of the classes to choose from, in their order, with ; between them; with the last two "
        "steps of a tree those at their four ends, absent-absent first",
    ),
    whole("first_wrong", "the first step after which the true class is out of reach; empty: none"),
    whole("n_steps", "steps of the path that are shown as decided; empty without a path"),
    text("outcome", "judged, time_expired, stage_skipped (by the moderator) or interrupted"),
    yes("judged", "every question was answered and the answers were handed in"),
    *ANSWERS_TO,
    text("chosen", "id of the class believed correct; empty where none is chosen"),
    yes("believed_correct", "the agreement is 3 or 4"),
    yes("right_output", "the class that the model predicts was found"),
    yes(
        "right_distinction",
        "the correct class was found; with two steps of a tree: both answered as the model does",
    ),
    yes("right_agreement", "believed correct if and only if the model is right"),
    yes("right_first_step", "the first step disagreed with is the first wrong one (or none is)"),
    text(
        "first_step_error",
        "exact, too_early or too_late: the first step disagreed with against the first wrong one, "
        "agreement with all counting as one step after the last",
    ),
    yes("right_verdict", "warm-up: the prediction was rightly judged"),
    yes("right_mistake", "warm-up: the first wrong step was found"),
    seconds(
        "duration_s",
        "from the photo's appearance to the answers handed in, without pauses and gaps",
    ),
    seconds("elapsed_s", "the same with pauses and gaps"),
    seconds("first_answer_s", "from the photo's appearance to the first answer"),
    seconds("last_answer_s", "from the photo's appearance to the last answer"),
    whole("n_rated", "rows whose similarity was rated"),
    whole("n_changes", "answers after the first of each question"),
    whole("n_taken_back", "answers that were taken back because they no longer applied"),
    whole("n_species_opened", "times the rows of another class were opened"),
    whole("n_description_opened", "times the description of the method was opened"),
    seconds(
        "description_s",
        "how long the description was open over the photo, wherever it was opened, without pauses "
        "and gaps",
    ),
    whole("n_tree_opened", "times the picture of the whole tree was opened"),
    text("answered_with", "inputs that answered, with ; between them"),
    text("facts", "what else the stimulus set knows of the photo (JSON)"),
    seconds("started_session_s", "session time (pauses included) of the photo's appearance"),
    STALLED,
    *_EXCLUDED,
)

SIMILARITIES = (
    *WHO,
    *_WHERE,
    whole("row", "place of the row among all rows of the photo as planned, from 1"),
    whole("option", "place of the row's class among the options, from 1; empty without options"),
    text("of", "id of the class of the prototype; empty for a tree's"),
    text("prototype", "id of the prototype"),
    number("similarity", "similarity of region and prototype as the model has it"),
    whole("rank", "the same as a rank among the rows of the class, 1 the most similar"),
    yes("present", "decision of a tree at this step: the prototype is present"),
    whole(
        "rating", "rated by the participant: 1 not, 2 somewhat not, 3 somewhat similar, 4 similar"
    ),
    seconds("answered_s", "from the photo's appearance to the rating that counts"),
    whole("changes", "ratings after the first"),
    yes(
        "of_chosen",
        "distinction: the row is of the class that was chosen; agreement: the prediction was "
        "believed correct (3 or 4)",
    ),
    *_EXCLUDED,
)

JUDGING_STAGES = (
    text(
        "method", "name of the explanation method; empty in other tasks, as are the rest of these"
    ),
    yes("labels", "the true class was told"),
    whole("set", "number of the set of photos"),
    number("model_accuracy", "accuracy of the explained model as the participant was told", "%"),
    number("output_rate", "photos on which the predicted class was found / photos judged", "0-1"),
    number("agreement", "mean agreement", "1-4"),
    whole(
        "hits",
        "photos assigned as they are, when half of them are taken as believed correct by the "
        "highest ratings and ties by lot: what the participant was told",
    ),
    number("expected_hits", "the same without the lot, the mean over all ways to break the ties"),
    whole("n_ties", "photos among which the lot decided"),
)
"""Of stages that judge explanations, in the table of stages. There `n_correct` and
`correctness_rate` are of the correct class found or, with agreement, of predictions rightly
believed."""

TABLES = TaskTables(
    words={
        "tasks": "of explanations that are judged heatmap-distinction, prototype-distinction, "
        "prototype-agreement, path-distinction, path-agreement or path-first-step, and warm-up"
    },
    outcomes={"judged": "a photo"},
    own={"judgements": JUDGEMENTS, "similarities": SIMILARITIES},
    added={"stages": {"skips_taken_back": JUDGING_STAGES}},
)
