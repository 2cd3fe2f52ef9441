"""Concept learners (paper 001): networks whose inner codes stand for concepts that people know.

A recipe says what learns from what, in three sizes; a package has weights, codes and a card. A
person can set a concept to what she sees: `intervention` says what the model answers then.
"""
