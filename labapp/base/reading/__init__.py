"""Files from outside, read without trusting them: the one way in.

What is read here may be damaged, hostile or simply another file than was meant. So a file is looked
at before it is opened (a pipe or a device would never end), its size is known before memory is
given out, and what is inside it is measured before it is unpacked. Every function raises OSError
for a file and ValueError for what it holds, with the reason in plain words; each reader makes of
them its own error, which names the file and says what to do.
"""
