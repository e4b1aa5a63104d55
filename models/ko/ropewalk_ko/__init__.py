"""The model ko of Ropewalk: data alone."""
