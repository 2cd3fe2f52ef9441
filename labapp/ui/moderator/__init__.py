"""The moderator's windows: the home's pages, the checklist, and the console of a session.

`state` folds events into what they show and imports no Qt. What is of one task, its words and its
facts, lies in the task's folder.
"""
