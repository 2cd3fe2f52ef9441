"""Stimulus sets: photos with a model's predictions and explanations, as folders with a manifest."""
