"""The model sv of Ropewalk: data alone."""
