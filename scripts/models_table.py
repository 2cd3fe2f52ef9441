"""The README's table of the shipped models, made from their cards: prints it.

    python scripts/models_table.py

A test holds the README to it.
"""

from __future__ import annotations

from labapp import resources
from labapp.representations import card as cards
from labapp.representations import package
from labapp.representations.card import ModelCard

HEAD = (
    "| model | trained for | error | Table 2 | MIG | Table 2 | DCI as published | Table 2 | DCI |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
)


def table() -> str:
    """Markdown, a row a model that was trained or measured."""
    root = resources.models()
    rows = []
    for name in package.list_packages(root):
        card = cards.read(package.find(name, root))
        if card.held_out_error is not None or card.code_agreement is not None:
            rows.append(_row(card))
    return "\n".join([*HEAD, *rows])


def _row(card: ModelCard) -> str:
    error, measured = card.held_out_error, card.disentanglement
    if error is None:
        assert card.code_agreement is not None
        shown = f"codes and digits agree: {100 * card.code_agreement.agreement:.0f} %"
    elif error.sampled is None:
        shown = _number(error.mean)
    else:
        shown = f"{_number(error.sampled)} ({_number(error.mean)} at the mean)"
    cells = [
        f"`{card.id}`",
        "closed form" if card.training is None else f"{card.training.iterations:,} iterations",
        shown,
        _number(error and error.published),
        _number(measured and measured.mig),
        _number(measured and measured.mig_published),
        _number(measured and measured.dci_exchanged.disentanglement),
        _number(measured and measured.dci_published),
        _number(measured and measured.dci.disentanglement),
    ]
    return f"| {' | '.join(cells)} |"


def _number(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else "–"


if __name__ == "__main__":
    print(table())
