"""What people say of a recorded session: marks, codes, transcripts, videos, agreement, exchange."""
