"""The numbers that kernels and their callers share."""

# What `trees.check` found.
TREE = 0
HEAD_MISSING = 1
HEAD_OUT_OF_RANGE = 2
CYCLE = 3
