"""A parser from a treebank in one go: a look at the data, a plan with reasons, and stages that can be interrupted."""
