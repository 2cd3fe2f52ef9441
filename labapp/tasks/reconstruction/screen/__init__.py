"""What participants see of the reconstruction task: one module a screen."""
