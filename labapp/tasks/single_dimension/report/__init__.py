"""What the report has of single dimensions: correctness by dial."""
