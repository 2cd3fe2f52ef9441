"""How far raters of recorded sessions agree: what may be compared, the measures, and their files.

What is compared is never pooled over versions of a codebook, nor over training and what was coded
independently; of the latter only what is locked counts.
"""
