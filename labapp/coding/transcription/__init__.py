"""What was said, written down by a recogniser on this computer: engines, words, talk time."""
