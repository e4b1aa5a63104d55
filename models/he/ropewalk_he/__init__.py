"""The model he of Ropewalk: data alone."""
