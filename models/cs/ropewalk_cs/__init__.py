"""The model cs of Ropewalk: data alone."""
