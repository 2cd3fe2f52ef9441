"""What is made of unmasked pictures (paper 004): records, tables, numbers, figures, report."""
