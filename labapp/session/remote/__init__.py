"""A session that is moderated and observed from other computers.

The program of the session starts a process that serves them (`server`) and hands it the session's
events and sound; `host` is its end of the pipes. At the other computer `client` holds the link and
`following` folds the events into the session that its console shows. `wire` has the messages,
`pairing` the codes and certificates.
"""
