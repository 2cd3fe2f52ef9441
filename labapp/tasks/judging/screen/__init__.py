"""What participants see of the judging task: one module a screen."""
