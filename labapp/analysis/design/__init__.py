"""Default analyses by the factors of a design: tests, estimated means, contrasts, equivalence.

`layout` describes factors and arranges values, `anova` is for complete data, `mixed` for gaps and
trials, `logistic` for yes or no; `contrasts` compares. These know nothing of studies. `sources`
takes a study's outcomes from its tables, `analyses` chooses what is done and `contents` reports it.
"""
