"""Windows: the home, the session's controller, and what all windows share.

It may import everything below it, and nothing but the commands and what tasks show imports it. It
renders the state of a session and sends commands; it decides nothing.
"""
