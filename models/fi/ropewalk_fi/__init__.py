"""The model fi of Ropewalk: data alone."""
