"""Image classifiers, their explanations, and the stimulus sets that are built from both."""
