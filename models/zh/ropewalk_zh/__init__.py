"""The model zh of Ropewalk: data alone."""
