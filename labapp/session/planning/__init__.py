"""Planning a study from simulated participants: threshold, time to skip, power and length."""
