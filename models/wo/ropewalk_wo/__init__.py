"""The model wo of Ropewalk: data alone."""
