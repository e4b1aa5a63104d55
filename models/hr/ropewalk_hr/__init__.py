"""The model hr of Ropewalk: data alone."""
