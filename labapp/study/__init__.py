"""Studies: what a study file may say, and the plan made from it for one participant.

Nothing here knows a task. `schema`, `flow` and `stages` read a study file with the task types'
help, `planner` makes the plan, `conditions` and `allocation` decide who gets what,
`instruments` holds questionnaires. It imports documents, stimulus sets and model cards, and no
session.
"""
