"""The model vi of Ropewalk: data alone."""
