"""The columns of the table of statistics: a row a number, of whatever was studied."""

from __future__ import annotations

from labapp.analysis.column import number, text, whole, yes

STATISTICS = (
    text("study", "id of the study; several with + between them where they are compared or pooled"),
    text(
        "design",
        "of analyses by the design its factors; "
        "of judged explanations method, task and labels, as the published studies are told apart; "
        "of masked pictures the name of the task; of models that are compared within participants, "
        "each of whom met several, or between participants",
    ),
    text(
        "item",
        "what it belongs to. Judged explanations: by the list of analyses, 1 accuracy to 12 forced "
        "score and 13 confidence in the own answers. Masked pictures: 1, 2 tables and 3 to 9 "
        "figures of the paper, 10 psychometric functions, 11 tests between methods, 12 the mixed "
        "logistic model. Models: 1 values, 2 analyses of variance, 3 pairs of models, 4 checks of "
        "what they assume, 5 mixed models. Repaired concepts: 1 means by model, 2 correlations "
        "with measures of the models, 3 the hypotheses. Empty of analyses by the design: see kind",
    ),
    whole("analysis", "of analyses by the design: number of the outcome's analysis, from 1"),
    text(
        "kind",
        "of analyses by the design: values of a cell, test of a term, estimated mean, "
        "back-transformed (the estimated mean in the outcome's own unit), contrast, effect "
        "(Cohen's d of a contrast, and of logarithms the ratio), equivalence, check, sensitivity "
        "(the same asked in another way), or left out and why",
    ),
    text("role", "of analyses by the design: whether the outcome is primary or secondary"),
    text("transform", "what was done to the values before tests: log, sqrt or logit"),
    text("factors", "of analyses by the design: the term, factors with × between them"),
    text("levels", "of analyses by the design: the levels of the cell or mean"),
    text("contrast", "name of the contrast: what is compared"),
    text(
        "direction",
        "of a contrast: two-sided, greater or less (then p is one-sided) or equivalent (then the "
        "corrected p is that of the test of equivalence)",
    ),
    text("family", "of a contrast: over which tests p is corrected, and how"),
    text("model_name", "of analyses by the design: the statistical model that the test is of"),
    text(
        "group",
        "of models: task, data set and, where needed, models that are compared; of repaired "
        "concepts the sample of pictures",
    ),
    text("quantity", "what was measured; of models a column of the table stages or a score's name"),
    text("method", "of masked pictures: id of the explanation method; empty where all count"),
    text("model", "id of the model; of a test of a pair the first one; empty where all count"),
    number("percent", "of masked pictures: share of the pixels shown; empty where all count", "%"),
    text("unit", "its unit"),
    text("test", "mean, another measure (share, median), or the name of the test or interval"),
    yes("ours", "not among the analyses of the paper"),
    whole(
        "n",
        "values: of masked pictures annotations, or images where no participant is asked; of "
        "models participants, in a paired test pairs",
    ),
    whole("n_participants", "of masked pictures: the participants whose annotations they are"),
    whole(
        "n_left_out",
        "of models within participants: those who lack a value with a model and are not in the "
        "analysis of variance",
    ),
    number("mean", "their mean, share or median, or what was fitted"),
    number("median", "their median, where that is beside the mean"),
    number("sd", "their sample standard deviation (n - 1); of a mixed model the posterior sd"),
    number("sd_population", "of models: their standard deviation as paper 000 prints it (n)"),
    text("compared_with", "the other group, method or model"),
    whole("n_2", "values of the other group"),
    number("mean_2", "their mean"),
    number("sd_2", "their sample standard deviation"),
    number(
        "difference", "of models: mean of the first minus mean of the other, of pairs if paired"
    ),
    number("standard_error", "of the difference or estimated mean"),
    number("bound", "of a test of equivalence: the smallest difference that matters"),
    number("epsilon", "Greenhouse and Geisser's, by which degrees of freedom were multiplied"),
    number("against", "the value tested against"),
    number("statistic", "t, r, rho, tau, W, U, H, F or chi-square; empty where it has no value"),
    number("df", "degrees of freedom of t or chi-square, or of the numerator of F"),
    number("df_2", "degrees of freedom of the denominator of F"),
    number(
        "p",
        "two-sided p, unless direction says otherwise; of masked pictures with Holm's correction",
    ),
    number(
        "p_corrected",
        "of models: p times n_tests (Bonferroni), at most 1; of contrasts as family says",
    ),
    whole("n_tests", "of models: tests over which p is corrected, all that are counted"),
    yes(
        "counted",
        "of models: one of the n_tests. They are the analyses of variance and t tests that have a "
        "p; an error summed over the pixels and its mean over them count once",
    ),
    text(
        "stars",
        "of models: **** p < .0001, *** p < .001, ** p < .01, * p < .05, of the p that is not "
        "corrected, as in the paper; none where n is below 5",
    ),
    yes(
        "significant",
        "n of at least 5 in every group, and p < .001 as in the paper of judged explanations; of "
        "masked pictures, whose paper names no level, p < .05 with Holm's correction; of models "
        "p < .05 with Bonferroni's",
    ),
    number(
        "low",
        "lower end of a 95 % interval; of masked pictures by bootstrap over participants, or over "
        "images where no participant is asked; of models of the difference",
    ),
    number("high", "upper end of that interval"),
    text("effect_name", "of models: which standardised effect (ours)"),
    number("effect", "its value"),
    number("effect_low", "lower end of its 95 % interval, by noncentral t or F"),
    number("effect_high", "upper end of that interval"),
    text(
        "why",
        "of models: why there is no value, or what else is to be known; of judged explanations: "
        "how long they are beside the paper's",
    ),
    text("published", "the paper's value"),
)
"""A number of an analysis, with its n: a row of the table of statistics."""
