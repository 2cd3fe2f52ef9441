"""What is made of judged explanations (paper 003): records, tables, statistics, figures, report."""
