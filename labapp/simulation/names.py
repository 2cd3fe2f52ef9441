"""Names of the strategies, apart so that the command line need not import numpy to check one."""

MIXTURE = "mixture"
"""Each participant has a strategy drawn by stated shares, see `labapp.simulation.mixtures`."""

RECONSTRUCTS = frozenset({"understanding", "partial", "ascent", "random"})
"""The strategies that turn dials."""
EXPLAINS = frozenset({"understanding", "explanation", "random"})
"""The strategies that answer about explanations."""

STRATEGY_NAMES = ("understanding", "partial", "ascent", "random", "explanation", MIXTURE)

KNOWING = "knowing"
"""Is told the answer, see `labapp.simulation.knowing`: for the demonstration and tests, and not
offered as a participant."""
