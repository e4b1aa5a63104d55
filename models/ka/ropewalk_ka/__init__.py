"""The model ka of Ropewalk: data alone."""
