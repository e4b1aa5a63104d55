"""Models, independent of what computes them: description, label sets, features, batches, decoding."""
