"""The model it of Ropewalk: data alone."""
