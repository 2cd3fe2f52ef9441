"""The command line: each command parses its options, calls one room, and says what came of it.

It may import every room, and does so inside the commands: `--help` loads none of them.
"""
