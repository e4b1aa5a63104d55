"""The model ru of Ropewalk: data alone."""
