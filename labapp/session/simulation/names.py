"""Names of the shipped strategies, apart so that neither the command line nor a task need import
numpy to name one. A task says which its parts can be done with (`TaskType.strategies`)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MIXTURE = "mixture"
"""Each participant has a strategy drawn by stated shares, see
`labapp.session.simulation.strategies`."""
ORACLE = "knowing"
"""Is told the answer (`OracleStrategy`): for the demonstration and tests, and not offered as a
participant."""

TURNS_DIALS: Mapping[str, str] = MappingProxyType(
    {
        "understanding": "tries each slider once, and then moves it to where it has to be",
        "partial": "knows what some sliders do",
        "ascent": "uses only the alignment number",
        "random": "moves sliders at random",
        ORACLE: "is told the answer",
    }
)
"""How dials of representations are turned and what is asked about them is answered."""
READS_EXPLANATIONS: Mapping[str, str] = MappingProxyType(
    {
        "understanding": "sees what the explanation shows",
        "explanation": "believes the class with the strongest explanation",
        "random": "guesses",
    }
)
"""How questions about explanations are answered."""
REPAIRS_CONCEPTS: Mapping[str, str] = MappingProxyType(
    {
        "careful": "sets what it sees, beginning with what it is surest of, until the answer "
        "is right",
        "oracle": "sets all concepts that the model has wrong, and nothing else",
        "stubborn": "corrects what it sees as wrong, then confirms everything else, whatever "
        "the answer",
        "misled": "undoes a change if the answer is not the expected one",
        "learner": "is careful, and remembers what a change did to other concepts",
        "unmoved": "is careful, and always forecasts that the answer stays",
        "random": "sets any concepts",
        ORACLE: "knows what is true",
    }
)
"""How a model that believes in concepts is corrected in them."""

STRATEGY_NAMES = (
    *("understanding", "partial", "ascent", "random", "explanation"),
    *("oracle", "careful", "stubborn", "misled", "learner", "unmoved", MIXTURE),
)
"""Those of the shipped tasks, as the command line's help lists them."""
