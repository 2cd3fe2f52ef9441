"""Stimulus sets of painted birds, built from the trained classifiers and their explanations."""
