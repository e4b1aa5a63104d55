"""The model hi of Ropewalk: data alone."""
