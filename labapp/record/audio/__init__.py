"""The participant's voice: from the microphone to a WAV file on the session's clock, and back.

Before a session, `check` listens to the microphone. While it runs, sound goes from `portaudio` and
`devices` through `capture` (in a child process, see `process`) to `recorder`, which writes the file
with `track` (`timeline`, `level`, `writer`); `sources` tells which microphone is behind a sound
server. Afterwards, `alignment` and `repair` read the file.

For a replay, `recorded_sound` makes one sound of a session's files, `pyramid` draws it, `speech`
finds where somebody speaks in it, and `player` plays it at any speed, in a child process, and knows
what is heard now.

No module here loads PortAudio when it is imported: a machine without sound must still open every
window. No other room opens the sound card.
"""
