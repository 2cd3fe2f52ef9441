"""Statistics, tables and figures of the reconstruction paper (paper 000, section 6)."""
