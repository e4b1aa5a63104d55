"""Parallel computation in several worker processes."""
