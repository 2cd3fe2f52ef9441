"""How any model of labapp is trained: one loop, one checkpoint, one bar in the terminal.

What is learned, and how, stands with the models: `labapp.representations` for those with dials,
`labapp.explanations` for classifiers. This room imports neither but for the reading and writing of
weights.
"""
