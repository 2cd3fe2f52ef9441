"""The researcher's place: sessions with their quality, the results so far, export and checks."""
