"""What can be added to labapp without an edit in it, and what an addition must offer.

A task is one `TaskType`: what a study may say of it, its planned parts, its state machine, its
screens, its tables. `registry` finds the shipped ones and those that other packages bring by entry
points. This room lies below `study` and `session`, which ask it and never name a task; the tasks
themselves (`labapp.tasks`) lie above everything that they are made of.
"""
