"""The model lv of Ropewalk: data alone."""
