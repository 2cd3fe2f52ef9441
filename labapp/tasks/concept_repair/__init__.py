"""Concept repair: people set right what a concept learner believes of a picture, watch what it says
then, and foretell it."""
