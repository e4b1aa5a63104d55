"""The model ta of Ropewalk: data alone."""
