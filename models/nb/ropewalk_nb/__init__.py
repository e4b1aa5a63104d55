"""The model nb of Ropewalk: data alone."""
