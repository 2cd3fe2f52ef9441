"""CAPTURED: the participant's voice, from the microphone to a WAV file on the session's clock.

While a session runs: portaudio -> devices -> capture (in a child: process) -> recorder, with
sources to know the microphone, and track (timeline, level, writer) for the file. Afterwards:
alignment and repair. Before it starts: check. No module here loads PortAudio when it is imported:
a machine without sound must still open every window.
"""
