"""The window in which a recorded session is seen, heard and coded."""
