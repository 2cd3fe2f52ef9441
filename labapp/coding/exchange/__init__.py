"""A session's units, text and marks as files of other tools, and the way back."""
