"""The interactive reconstruction task (paper 000, section 3.1)."""
