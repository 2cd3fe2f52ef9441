"""Published models in TensorFlow.js's format, made into model packages without TensorFlow.

manifest.py reads the tensors, layouts.py knows whose they are and turns them into ours, config.py
reads dials and latent sample, importing.py puts the package together.
"""
