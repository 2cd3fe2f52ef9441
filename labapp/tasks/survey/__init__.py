"""The lab's own survey tool: a participant fills in a survey elsewhere and comes back."""
