"""Names of the strategies, apart so that the command line need not import numpy to check one."""

STRATEGY_NAMES = ("understanding", "explanation", "random")
