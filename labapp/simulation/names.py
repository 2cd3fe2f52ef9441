"""Names of the shipped strategies, apart so that neither the command line nor a task need import
numpy to name one. A task says which its parts can be done with (`TaskType.strategies`)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MIXTURE = "mixture"
"""Each participant has a strategy drawn by stated shares, see `labapp.simulation.mixtures`."""
ORACLE = "knowing"
"""Is told the answer (`OracleStrategy`): for the demonstration and tests, and not offered as a
participant."""

TURNS_DIALS: Mapping[str, str] = MappingProxyType(
    {
        "understanding": "tries each dial, and from then on turns it where it leads",
        "partial": "knows what some dials do",
        "ascent": "goes by the number of the alignment alone",
        "random": "turns dials at random",
        ORACLE: "is told the answer",
    }
)
"""How dials of representations are turned and what is asked about them is answered."""
READS_EXPLANATIONS: Mapping[str, str] = MappingProxyType(
    {
        "understanding": "sees what the explanation shows",
        "explanation": "believes whatever is explained most",
        "random": "guesses",
    }
)
"""How questions about explanations are answered."""

STRATEGY_NAMES = ("understanding", "partial", "ascent", "random", "explanation", MIXTURE)
"""Those of the shipped tasks, as the command line's help lists them."""
