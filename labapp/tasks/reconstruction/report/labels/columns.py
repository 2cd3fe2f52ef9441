"""The columns of the tables of the names that dials were given (paper 000, Tables 1 and A.4)."""

from __future__ import annotations

from labapp.analysis.column import number, text, whole, yes

_DIAL = (
    text("study", "id of the study"),
    text("model", "id of the representation"),
    whole("dimension", "the dial, from 1 as on the screen"),
    text("dimension_title", "the dial as the paper's tables call it, for example Continuous 3"),
    text("dimension_name", "the representation's own name of the dimension"),
)

NAMES = (
    *_DIAL,
    text("label", "id of the name in labels_to_rate.csv"),
    text("participant", "who gave it"),
    text("session", "label of the session"),
    text("text", "the name as it was at the end of the stage"),
    whole("n_others", "names that other participants gave to this dial"),
    whole("n_raters", "raters"),
    whole("n_yes", "raters who call it consistent; empty without raters"),
    yes("consistent", "every rater calls it consistent; empty without raters"),
    text("ratings", "what each rater says, by the name of the file"),
)
"""The names of sessions that count, as they were rated."""

COVERAGE = (
    *_DIAL,
    number("effect_distance", "mean distance d between its low and its high end", "0-1"),
    number("effect_change", "mean sum over pixels of absolute differences between them", "pixels"),
    number("effect_share", "its effect over that of the model's strongest dial", "0-1"),
    yes("little_effect", "that share is below 0.05; ours"),
    text("no_effect_because", "why the effect is not known"),
    whole("n_met", "participants who met the model"),
    whole("n_named", "of these, who named the dial"),
    number("coverage", "the second over the first", "0-1"),
    whole("n_names", "names"),
    whole("n_consistent", "of these, consistent; empty without raters"),
    whole("published_names", "names in the paper's table, of the model that is named alike"),
)
"""What each dial is worth a name."""

MODELS = (
    text("study", "id of the study"),
    text("model", "id of the representation"),
    whole("n_met", "participants who met it"),
    whole("n_named_any", "of these, who named at least one of its dials"),
    number("named_any_share", "the second over the first", "0-1"),
    number("published_named_any_share", "in the paper, both D together (6.2.2)", "0-1"),
    whole("n_dials", "dials"),
    whole("n_covered", "of these, named by at least 80 % of the participants"),
    whole("published_n_covered", "likewise, counted in the paper's tables (5 participants)"),
    whole("n_little_effect", "dials with little effect; empty where effects are not known"),
    whole("n_names", "names"),
    whole("n_consistent", "of these, consistent; empty without raters"),
)

AGREEMENT = (
    whole("n_raters", "raters"),
    whole("n_names", "names that can agree with another participant's"),
    number("percent", "of these, of which all raters say the same", "%"),
    text("statistic", "Cohen's kappa (two raters) or Fleiss's kappa (more)"),
    number("kappa", "its value; empty where it is undefined"),
    number("low", "lower end of its 95 % interval, a percentile bootstrap over names"),
    number("high", "upper end"),
    text("no_kappa_because", "why there is none"),
)

LABEL_TABLES = {
    "label_names": NAMES,
    "label_dials": COVERAGE,
    "label_models": MODELS,
    "label_agreement": AGREEMENT,
}
"""Tables that are computed from the others and from what raters say."""
