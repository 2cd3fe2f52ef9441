"""Metrics applied: to files of codes and factors, and all at once; tables and figures of scores.

What is scored comes from files (`files`) or from a model's encodings; `scores` computes, `words`
writes for people, `console` tells how far it is, `figures` draws, and `folder` keeps. The metrics
are in `labapp.metrics`.
"""
