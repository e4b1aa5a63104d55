"""The model ug of Ropewalk: data alone."""
