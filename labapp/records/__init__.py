"""Reading what was recorded: sessions, bundles and journals, which are never changed here.

Whatever comes from outside is read with limits and refused in words. It imports events, reading,
errors and the clock, and no study, task or session.
"""
