"""The model uk of Ropewalk: data alone."""
