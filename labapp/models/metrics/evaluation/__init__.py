"""Metrics applied: to files of codes and factors, and all at once; tables and figures of scores.

Codes and factors come from files (`files`) or from a model's encodings. `scores` computes the
metrics of `labapp.models.metrics`, `terminal` shows progress and scores, `figures` draws them, and
`folder` saves them.
"""
