"""The model tr of Ropewalk: data alone."""
