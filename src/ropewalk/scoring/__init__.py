"""Scores, breakdowns, and significance of differences."""
