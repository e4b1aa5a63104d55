"""The model fa of Ropewalk: data alone."""
