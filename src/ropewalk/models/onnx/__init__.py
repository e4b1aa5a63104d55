"""Trained models without torch: folders that `ropewalk export` makes, computed by ONNX Runtime."""

from ropewalk.models.onnx.model import Runtime

__all__ = ["Runtime"]
