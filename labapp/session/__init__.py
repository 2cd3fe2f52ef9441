"""A running session: its state machine, its runner, its folder and how it goes on.

`machine` is pure and decides what follows from what; `runner` is the shell with clock, disk and
pictures; `opening` begins and resumes. It imports studies and task types by their registry, and no
window: windows send it commands and render its state.
"""
