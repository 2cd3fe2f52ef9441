"""Counterfactual choice: which of these pictures differs from this one in dial N?"""
