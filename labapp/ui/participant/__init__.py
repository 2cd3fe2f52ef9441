"""The participant's window: one screen a part of the plan, between two bars.

A screen draws a `SessionView` and asks it for what the hand wants. It imports widgets and its
task's plan and state, and nothing of the moderator's windows.
"""
