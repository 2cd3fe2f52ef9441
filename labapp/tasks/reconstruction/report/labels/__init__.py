"""Names that participants gave to dials: rated by people, and set out as in the paper's tables."""
