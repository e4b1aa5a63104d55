"""Immutable data: offsets of sentences, columns of text, trees, arcs, graphs and rope covers."""
