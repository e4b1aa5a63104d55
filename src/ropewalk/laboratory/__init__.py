"""Measurements for researchers: coverage, statistics, the paper's tables, experiments."""
