"""The model de of Ropewalk: data alone."""
