"""The model da of Ropewalk: data alone."""
