"""A recorded session as it was at any moment: its state, its sound, and what happened when."""
