"""Data sets: drawn by the program, or read from files that a user has.

It gives arrays with their true factors, and imports reading and errors.
"""
