"""What researchers measure: coverage, statistics, the paper's tables, experiments."""
