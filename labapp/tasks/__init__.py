"""The shipped tasks, and the other kinds of parts: each a folder, and each folder one task.

`task.py` holds the task type. Beside it lie what a study may say of it (study), its planned parts
(plan, planner), its state machine (machine, state), its events and commands, what it shows
(pictures), what a simulated participant does in it (simulated), its rows and columns of tables
(records), what the report has of it (report), its files in a bundle (bids), the moderator's
words for it (moderator) and what stands beside the mirror (beside). Which of these may import what
is in pyproject.toml. No task imports another; all others reach them by
`labapp.study.plugins.registry` alone.
"""
