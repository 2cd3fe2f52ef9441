"""Pages and figures that people read: HTML from templates, numbers as text, SVG.

The report of an analysis, the page of a plan and the figures of scores are made with it. It knows
nothing of what they are about: it may import errors and how figures look, and nothing else of
labapp.
"""
