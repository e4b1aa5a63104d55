"""Scores, statistics and comparisons: what a result in a table rests on."""
