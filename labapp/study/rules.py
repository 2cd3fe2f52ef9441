"""What a study file may say of who is included in the analysis, and of what is paid."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from pydantic import ConfigDict, Field

from labapp.base.documents import CURRENCY, Strict

CENT = Decimal("0.01")


class Inclusion(Strict):
    """Who counts. Excluded sessions are kept and their place is filled again (paper 000, 5.2.2).

    Attributes
    ----------
    completed : counts only who came to the end, and for whom the moderator skipped no stage and no
        practice.
    practice_correct : counts only who answered every practice question of a single-dimension task
        rightly.
    min_solved : counts only who solved so many reconstruction questions, over all stages.
    """

    completed: bool = True
    practice_correct: bool = False
    min_solved: int = Field(default=0, ge=0)


class Incentive(Strict):
    """What taking part is paid.

    Attributes
    ----------
    text : a text that is shown after consent, with {base}, {per_solved}, {per_correct} and
        {per_above_chance} in it, amounts in `currency`; a paragraph with an amount that the
        participant cannot earn is left out. Before photos that are judged {options} are the classes
        to choose from and {chance} what guessing gets right, in percent.
    currency : a sign or letters that stand before amounts, such as $ or €.
    base : for taking part.
    per_solved : for a reconstruction question that was solved.
    per_correct : for a single-dimension question that was answered rightly, practice not counted.
    per_above_chance : for a photo that was answered rightly beyond those that guessing gets right
        (paper 003, figures A11 to A13 and A15).
    """

    model_config = ConfigDict(allow_inf_nan=False)

    text: str
    currency: str = Field(default="$", max_length=5, pattern=CURRENCY)
    base: float = Field(default=0.0, ge=0)
    per_solved: float = Field(default=0.0, ge=0)
    per_correct: float = Field(default=0.0, ge=0)
    per_above_chance: float = Field(default=0.0, ge=0)

    def bonus(self, solved: int, correct: int, above_chance: float = 0.0) -> float:
        """What is paid beyond the base, to the cent; above_chance: see `inclusion.Achieved`."""
        return to_the_cent(
            (self.per_solved, solved),
            (self.per_correct, correct),
            (self.per_above_chance, above_chance),
        )

    def amount(self, value: float) -> str:
        """An amount for people, such as $3.75."""
        return amount(self.currency, value)


def to_the_cent(*counted: tuple[float, float]) -> float:
    """The sum of amounts, each so many times: of the decimals as they are written, half a cent
    rounded up, in the participant's favour."""
    exact = sum((Decimal(str(each)) * Decimal(str(times)) for each, times in counted), Decimal(0))
    return float(exact.quantize(CENT, ROUND_HALF_UP))


def amount(currency: str, value: float) -> str:
    """An amount for people, such as $3.75; $0.125 where a study pays by less than a cent."""
    exact = Decimal(str(value)).normalize()
    return f"{currency}{exact.quantize(CENT) if exact == exact.quantize(CENT) else exact:f}"
