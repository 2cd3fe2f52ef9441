"""What a study file may say of who is included in the analysis, and of what is paid."""

from __future__ import annotations

from pydantic import Field

from labapp.study.strict import Strict


class Inclusion(Strict):
    """Who counts. Excluded sessions are kept and their place is filled again (paper 000, 5.2.2).

    completed: the session came to its end, and the moderator skipped no stage and no practice;
    practice_correct: every practice question of a single-dimension task was answered rightly;
    min_solved: reconstruction questions solved, over all stages.
    """

    completed: bool = True
    practice_correct: bool = False
    min_solved: int = Field(default=0, ge=0)


class Incentive(Strict):
    """What taking part is paid. text: shown after consent, with {base}, {per_solved} and
    {per_correct} in it, amounts in `currency`; a paragraph with an amount that the participant
    cannot earn is left out. per_solved: for a reconstruction question; per_correct: for a
    single-dimension question, practice not counted."""

    text: str
    currency: str = Field(default="$", min_length=1, max_length=5)
    base: float = Field(default=0.0, ge=0)
    per_solved: float = Field(default=0.0, ge=0)
    per_correct: float = Field(default=0.0, ge=0)

    def bonus(self, solved: int, correct: int) -> float:
        """What is paid beyond the base, to the cent."""
        return round(solved * self.per_solved + correct * self.per_correct, 2)

    def amount(self, value: float) -> str:
        """An amount for people, such as $3.75."""
        return amount(self.currency, value)


def amount(currency: str, value: float) -> str:
    """An amount for people, such as $3.75."""
    return f"{currency}{value:.2f}"
