"""CAPTURED: the participant's voice, from the microphone to a WAV file on the session's clock.

portaudio -> devices -> capture -> recorder (timeline, level, writer) while a session runs;
alignment and repair afterwards; check before it starts. No module here loads PortAudio when it
is imported: a machine without sound must still open every window.
"""
