"""Trained models without torch: folders that `ropewalk export` makes, computed by ONNX Runtime."""

from ropewalk.runtime.model import Runtime

__all__ = ["Runtime"]
