"""What the console shows, as folds over the journal's events; no Qt in here."""
