"""The model es of Ropewalk: data alone."""
