"""A parser from a treebank in one command: a survey of the data, a plan with reasons, and resumable stages."""
