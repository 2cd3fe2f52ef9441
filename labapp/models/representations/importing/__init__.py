"""Decoders of others: opened apart from everything else, converted to ONNX, checked and packed."""
