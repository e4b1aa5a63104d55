"""The model id of Ropewalk: data alone."""
