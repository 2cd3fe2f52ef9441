"""Stimulus sets: what is judged in the tasks of the HIVE studies, as folders with a manifest."""
