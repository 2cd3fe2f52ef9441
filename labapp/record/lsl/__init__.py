"""A session's events for other devices of a lab, over the Lab Streaming Layer (LSL)."""
