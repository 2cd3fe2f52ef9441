"""What the report has of concept repair."""
