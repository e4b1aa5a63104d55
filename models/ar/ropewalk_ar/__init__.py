"""The model ar of Ropewalk: data alone."""
