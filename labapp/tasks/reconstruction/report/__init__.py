"""What the report has of reconstruction: calibrations, courses of the alignment, names of dials."""
