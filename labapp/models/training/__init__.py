"""How every model of labapp is trained: one loop, one kind of checkpoint, one kind of weight file.

What is learned, and how, is defined with the models: in `labapp.models.representations` for models
with dials, in `labapp.models.explanations` for classifiers. This room imports neither.
"""
