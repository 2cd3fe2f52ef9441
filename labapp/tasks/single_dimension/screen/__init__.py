"""What participants see of the single-dimension task: one module a screen."""
