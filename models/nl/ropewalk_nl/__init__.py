"""The model nl of Ropewalk: data alone."""
