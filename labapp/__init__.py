"""labapp: think-aloud lab studies of how well people understand machine-learning models."""

__version__ = "0.1.0"
