"""Questionnaires: the items of an instrument, page by page, with every change of an answer."""
