"""The columns of the table of dials (paper 000, Tables 1 and A.4)."""

from __future__ import annotations

from labapp.analysis.column import number, text, whole, yes

DIALS = (
    text("study", "id of the study"),
    text("model", "id of the representation"),
    text("card_sha256", "hash of its model card; empty where the session recorded none"),
    whole("dimension", "the dial, from 1 as on the screen"),
    text("dimension_name", "the representation's own name of the dimension"),
    text("dial", "continuous (a slider) or discrete (a choice)"),
    number("low", "least value of a slider"),
    number("high", "greatest value of a slider"),
    whole("values", "values of a choice"),
    text("distance", "the study's distance between two pictures, by its name"),
    yes("labels_editable", "participants could name the dial"),
)
"""What the dials of the stages are, whether anybody named them or not: a row a dial of each model,
whoever met it. Practice is left out."""
