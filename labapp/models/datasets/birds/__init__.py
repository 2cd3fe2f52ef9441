"""Procedural birds: pictures of invented species whose marks, parts and visibility are known."""
