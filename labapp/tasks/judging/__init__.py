"""Judging explanations of a classifier, photo by photo (paper 003), and the warm-up before it."""
