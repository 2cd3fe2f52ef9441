"""The shipped tasks, and the other kinds of parts: each a folder, and each folder one task.

`task.py` holds the task type; beside it lie what a study may say of it (study), its planned parts
(plan, planner), its state machine (machine, state, fold), what it shows (pictures), what a
simulated participant does in it (simulated) and the moderator's words for it (moderator). Which of
these may import what is in pyproject.toml. No task imports another; all others reach them by
`labapp.plugins.registry` alone.
"""
