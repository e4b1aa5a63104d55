"""The model ja of Ropewalk: data alone."""
