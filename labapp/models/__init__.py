"""Models and pictures: datasets, training, decoders, classifiers, concepts, stimuli, metrics."""
