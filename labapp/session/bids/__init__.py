"""Bundles: a session as BIDS files, checked, archived, and de-identified if that is asked.

What is of one task lies in the task's `bids`. It imports the journal, the analysis' tables and the
lab's logs of exports, and no window.
"""
