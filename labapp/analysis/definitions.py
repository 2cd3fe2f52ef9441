"""How each number of the report is defined, in the words that the report prints."""

DEFINITIONS = {
    "Time": (
        "All durations are working time: pauses by the moderator and gaps after a stop of the "
        "program are taken out."
    ),
    "Sessions that count": (
        "Each session decides at its end, by the rules of its study, whether it is included; one "
        "without that decision (unfinished, or recorded by an older labapp) is included if it was "
        "completed. Whoever withdrew, in the session or later, is not included. Retention is "
        "included / recruited sessions; who did not agree to take part was not recruited."
    ),
    "Questions that count": (
        "Every question of the stages, also those whose start and target agreed from the "
        "beginning (they are flagged). Not counted: practice, attempts that were interrupted or "
        "repeated, and a question cut off because the moderator skipped the stage."
    ),
    "Completion rate": (
        "Solved questions / planned questions of the stage. A question that the time limit kept "
        "from being asked is not completed. Where the moderator skipped the stage, or it has no "
        "end, only the questions that count are the denominator."
    ),
    "Response time": (
        "Seconds from the appearance of the pictures to the click on Next or Skip, as the mean of "
        "the stage's questions that ended so. The moment of alignment is in the table trials."
    ),
    "Single-dimension questions": (
        "Correctness: questions answered correctly / questions handed in. Response time: seconds "
        "from the appearance of the pictures to the answer handed in (choice and both ratings); "
        "the moment of the first choice is in the table trials. Confidence and “dial makes sense”: "
        "mean rating from 1 (strongly disagree) to 5 (strongly agree)."
    ),
    "Active time": (
        "As response time, but a stretch without any activity counts for at most the stage's "
        "inactivity limit (3 s unless the study says otherwise); the count of the published "
        "application is in the column active_s_as_published."
    ),
    "Judged explanations": (
        "Accuracy: photos answered rightly / photos judged, of each session. Distinction: the "
        "correct class; with the last two steps of a tree, both answered as the model does; "
        "chance is one of the classes to choose from, there one of the four ends. Agreement: 3 and "
        "4 say that the prediction is correct, 1 and 2 that it is not; chance is half. t tests "
        "are two-sided, two-sample ones with equal variances. The interval clustered by set takes "
        "sessions that saw the same photos as alike (cluster-robust variance, t with one degree of "
        "freedom less than there are sets). The score that was told splits the photos in halves by "
        "the ratings, ties by lot; without the lot it is the mean over all ways to break the ties. "
        "All of it is in the table statistics."
    ),
    "Unmasked images": (
        "An annotation is a response to one masked image; a label names a class. Accuracy: correct "
        "labels / all annotations, “I don't know” is not correct; without it, correct labels / "
        "labels. Reaction time: from the first painted frame of the stimulus to the input event's "
        "own time stamp; all of them, untrimmed. The model alone: its prediction for the masked "
        "image against the true class, and its cross-entropy there. Ranks: for each image and mask "
        "the methods by mean accuracy of the participants, and by the model's cross-entropy, 1 is "
        "best, ties have their average rank. Bias: of images whose prediction is wrong, the share "
        "of annotations equal to it, mean over images; of the whole image, or of the masked one. "
        "Threshold: the percentage at which a psychometric function is half-way between its guess "
        "and lapse rates. Intervals: 95 %, percentiles of 2,000 bootstrap draws of participants "
        "(of their ranks ± 1.96 standard deviations of the draws), of images for the model alone. "
        "All of it is in the tables annotations, masked_predictions and statistics."
    ),
    "Calibration": (
        "Questions without a target, in which the participant marks “far away” and “close enough”; "
        "the alignment at each mark is in the table marks. They have no completion rate; marks of "
        "questions that do not count are left out."
    ),
    "Slide distance": (
        "Total movement of the dials in full slider widths, mean a question; a change of a "
        "discrete dimension counts 1."
    ),
    "Error AUC": (
        "Integral over time of the squared difference between own picture and target, summed over "
        "all questions of the stage, not averaged; constant between snapshots, idle time included. "
        "“Sum” adds the squared differences over the pixels (sum of squares × s, the unit of the "
        "published tables); “mean” averages them (mean of squares × s, as the paper's text says)."
    ),
    "Snapshots": (
        "Derived from the recorded movements: one at the start of the question, one when a dial "
        "has changed and at least 100 ms have passed, at once when the active dial or the "
        "direction changes, one at the alignment and one at the end of the question."
    ),
    "Difficulty (SEQ)": (
        "Single Ease Question after the stage, 1 very easy to 7 very difficult; submitted answers "
        "only."
    ),
    "NASA-TLX, SUS, UEQ-S": (
        "By their published rules, from submitted answers only; a score with an answer missing is "
        "left out. NASA-TLX subscales are 5 × the gradation from 0 to 20, raw TLX their mean, "
        "weighted TLX their mean with the weights of the 15 comparisons; SUS 0 to 100; UEQ-S −3 to "
        "3. Other statements are as answered."
    ),
    "First and last questions": (
        "Last minus first (n − 1) / 2 of the n questions that count, rounded down; error AUC a "
        "question. Single-dimension: of the questions that were handed in; their dials come in "
        "random order, so that a change is one over dials too."
    ),
    "Names of dials": (
        "The last name of each dial in a stage, of sessions that count; one that was taken away "
        "again is none. Coverage: participants who named the dial / participants who met the "
        "model. Consistent: every rater says that the name agrees with another participant's. "
        "Kappa is over the names beside which another participant's stands. Effect of a dial: "
        "mean distance of the study, over held-out instances, between the pictures at its 5th and "
        "95th percentile (of a choice, between all pairs of values), as a share of the model's "
        "strongest dial; below 5 % it has little effect, a threshold of ours. All of it is in the "
        "tables label_names, label_dials, label_models and label_agreement."
    ),
    "Models compared": (
        "As in the paper: repeated-measures ANOVA, of the participants with a value for every "
        "model, and paired t tests, of those with both models, where participants met several "
        "models; one-way ANOVA and t tests with pooled variance where each met one (of who came "
        "again with another, the first counts). Models that no participant meets together are "
        "compared apart. All p are two-sided; the corrected p is p "
        "times all these tests of the analysis (Bonferroni), an error as a sum or as a mean over "
        "the pixels counting once. Ours: partial and generalised eta squared, d_z (mean difference "
        "/ sd of the differences) and Hedges' g (with the exact correction for small samples), "
        "with 95 % intervals by noncentral F and t; tests by ranks (Friedman, Kruskal-Wallis, "
        "Wilcoxon, Mann-Whitney); Shapiro and Wilk's test of residuals and of differences, Brown "
        "and Forsythe's of variances, Mauchly's of sphericity (chi-square approximation) with "
        "Greenhouse and Geisser's correction; a linear mixed model with a random intercept of "
        "participants (restricted maximum likelihood, Wald's test of the models) where a "
        "participant lacks a model. All of it is in the table statistics."
    ),
    "Mean, sd, median": (
        "Over participants, one value each. sd is the sample standard deviation (n − 1 in the "
        "denominator). Paper 000 prints the population form (n), by its released code; papers 003 "
        "and 004 do not say which they print."
    ),
}
