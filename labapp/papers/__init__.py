"""What labapp knows of published studies that goes beyond one task: a folder a paper.

A profile names tasks, compares what several of them say, and has the values that the paper prints.
`profile.py` in each folder holds its `Profile`; `labapp.base.discovery.PROFILES` lists them. It may
import tasks, the analysis and the report kit; nothing but planning imports it by name.
"""
