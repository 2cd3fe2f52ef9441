"""Videos of a participant, made by anything, on the clock of their session.

No other room loads PyAV.
"""
