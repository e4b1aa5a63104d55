"""The model en-accurate of Ropewalk: data alone."""
