"""Labels in the place of names: as whole texts, in lists, and names that no word is anywhere."""

from __future__ import annotations

import pytest

from labapp.base.report.labels import Labels, current_labels, labelling
from labapp.base.report.page import Translation, Verbatim, say, speaking

LABELS = {
    "completion_rate": "Share solved",
    "sinelines/ae": "Autoencoder",
    "hint": "Hint",
    "with": "With hint",
    "without": "Without hint",
    "seq.seq": "Ease",
    "vae": "Variational",
    "understood": "Felt understanding",
}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("with", "With hint"),
        ("with a hint", "with a hint"),
        ("The rate with sliders, and without them", "The rate with sliders, and without them"),
        ("with, without", "With hint, Without hint"),
        ("hint: with", "Hint: With hint"),
        ("hint: with #3", "Hint: With hint #3"),
        ("hint × model", "Hint × model"),
        ("completion_rate · reconstruction", "Share solved · reconstruction"),
        ("completion_rate by hint", "Share solved by Hint"),
        ("Design: between hint; within model.", "Design: between Hint; within model."),
        ("hint (with, without)", "Hint (With hint, Without hint)"),
        ("Models sinelines/ae and sinelines/aeb", "Models Autoencoder and sinelines/aeb"),
        ("my_completion_rate", "my_completion_rate"),
        ("seq.seq, in 1-7", "Ease, in 1-7"),
        ("with\nsinelines/ae", "With hint\nAutoencoder"),
        ("sinelines/vae", "sinelines/vae"),
        ("sinelines/\nvae", "sinelines/\nvae"),
        ("sinelines/\nae", "Autoencoder"),
        ("vae / sinelines/ae", "Variational / Autoencoder"),
        ("experience.understood by hint", "Felt understanding by Hint"),
        ("my-scale.understood by hint", "Felt understanding by Hint"),
    ],
)
def test_a_text_with_labels(text: str, shown: str) -> None:
    assert Labels(LABELS).put(text) == shown


def test_labels_are_shown_where_pages_and_figures_put_text() -> None:
    assert say("completion_rate") == "completion_rate"
    with labelling(LABELS):
        assert say("completion_rate") == "Share solved"
        assert say(Verbatim("with")) == "With hint"
        assert say(Verbatim("They worked with completion_rate")) == (
            "They worked with completion_rate"
        ), "what people said stays"
        german = Translation("de", {"Mean of {a:x}": "Mittel von {a}", "with": "mit"})
        with speaking(german):
            assert say("Mean of completion_rate") == "Mittel von Share solved"
            assert say("with") == "With hint", "a name, and no word of a sentence"
    assert current_labels() is None
    with labelling({}):
        assert current_labels() is None
