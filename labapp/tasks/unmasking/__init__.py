"""The unmasking task (paper 004): its state, its decisions and its fold."""
