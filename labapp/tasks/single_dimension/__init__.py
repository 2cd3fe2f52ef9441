"""The single-dimension task (paper 000, section 4.5)."""
