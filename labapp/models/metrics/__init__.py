"""Disentanglement and purity of representations, scored without people.

One calling convention: `metric(codes, factors, *, seed=0, as_published=False, ...)` takes codes of
shape (n, C) and factors of shape (n, K), row for row, and gives a `score.Score`. The default is the
definition in the paper that proposed the metric; `as_published=True` does what the released code
behind published numbers does, and the metric's docstring says where the two part. Equal arguments
give equal scores.
"""
