"""The model el of Ropewalk: data alone."""
