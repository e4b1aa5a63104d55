"""Exported models, computed by ONNX Runtime."""
