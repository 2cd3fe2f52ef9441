"""What participants see of a questionnaire."""
