"""The model pt of Ropewalk: data alone."""
