"""The model ro of Ropewalk: data alone."""
