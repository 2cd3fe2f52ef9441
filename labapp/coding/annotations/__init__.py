"""What people say about a session after its end: units of speech, their text, raters' codes.

A finished session is never touched: all of it lies beside the session folders, in `annotations`.
"""
