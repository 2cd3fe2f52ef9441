"""Imports published models from TensorFlow.js's format into model packages, without TensorFlow.

manifest.py reads the tensors, layouts.py recognises their network and converts them, config.py
reads dials and latent sample, importing.py writes the package.
"""
