"""Schematic faces, angry or happy: pictures of nobody, with an expression that many cues share."""
