"""The model pl of Ropewalk: data alone."""
