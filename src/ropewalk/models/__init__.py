"""What a model is whatever computes it: configuration, labels, features, batches, decoding; no torch, no ONNX."""
