"""Quotas: how many participants of a kind a study takes, where their answers say of which kind they
are.

The people who hold a place are counted when a session begins. When the answers of its participant
fulfil a quota's condition, the session says so, and whether the quota was full by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from labapp.base.documents import Strict, faults_at
from labapp.study.when import Condition, Known, describe, settle


class Quota(Strict):
    """The maximum number of participants for whom a condition is true.

    Attributes
    ----------
    when : To whom it applies: a condition on answers, as in `{people.used: often}`, and on
        variables of the design (see `only_if`). It is checked after each part.
    at_most : The maximum number of these participants.
    share : Instead of `at_most`: the maximum share of all participants that `per_cell` of the
        design asks for, such as 0.5.
    full : What happens when one more comes. `tell`: the moderator is informed, and the session
        continues; `end`: the session ends, and the place is given to someone else.
    """

    when: Condition
    at_most: int | None = Field(default=None, ge=1)
    share: float | None = Field(default=None, gt=0, lt=1)
    full: Literal["tell", "end"] = "tell"

    @model_validator(mode="after")
    def _limited(self) -> Self:
        if not self.when:
            raise faults_at({("when",): "found nothing; allowed: answers with their values"})
        if (self.at_most is None) == (self.share is None):
            raise ValueError("either at_most or share")
        return self

    def limit(self, sizes: Iterable[int] | None) -> int:
        """The number of participants that the quota allows. sizes: the number needed per cell."""
        if self.at_most is not None:
            return self.at_most
        return int((self.share or 0.0) * sum(sizes or ()) + 1e-9)

    @property
    def words(self) -> str:
        """Whom it limits, and to how many, in words."""
        limit = f"{self.at_most}" if self.at_most is not None else f"{self.share:.0%} of all"
        ends = "; the session of one more ends" if self.full == "end" else ""
        return f"at most {limit} participants where {describe(self.when)}{ends}"


def find_met(quotas: Mapping[str, Quota], known: Known) -> list[str]:
    """The quotas whose condition is true of a participant for certain, by their names. known: the
    variables, and the answers so far."""
    return [name for name, quota in quotas.items() if settle(quota.when, known) is True]
