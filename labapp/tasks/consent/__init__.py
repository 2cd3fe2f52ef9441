"""Consent: a form that is signed or declined, with uses of the data asked one by one."""
