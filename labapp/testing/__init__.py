"""What authors test their tasks with: `check_task`, as scikit-learn has `check_estimator`.

It goes through a study with the task as participants, crashes and moderators would, and says in a
sentence what has to be mended. It stands above everything else of labapp; nothing imports it. It
needs the package `hypothesis`.
"""

from labapp.base.errors import SetupError

try:
    from labapp.testing.checking import Unfit, check_task, problems_of
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    raise SetupError(
        "The conformance kit needs the package hypothesis, which is not installed.",
        safe="Nothing was checked, and nothing was changed.",
        todo="Install it with `pip install hypothesis`, and try again.",
    ) from error

__all__ = ["Unfit", "check_task", "problems_of"]
