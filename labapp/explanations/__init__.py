"""Image classifiers and their explanations; the one that builds stimulus sets from them."""
