"""Simulated participants: who they are, how they learn and move, and whole studies of them.

What they do in a part its task says. It imports sessions, studies and representations, and no
window.
"""
