"""How the numbers of all tasks are defined, in the words that the report prints."""

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
    "Mean, sd, median": (
        "Over participants, one value each. sd is the sample standard deviation (n − 1 in the "
        "denominator). Paper 000 prints the population form (n), by its released code; papers 003 "
        "and 004 do not say which they print."
    ),
}
