"""The model fr of Ropewalk: data alone."""
