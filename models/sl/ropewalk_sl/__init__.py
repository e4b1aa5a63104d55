"""The model sl of Ropewalk: data alone."""
