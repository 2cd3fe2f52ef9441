"""The participant's screens of concept repair."""
