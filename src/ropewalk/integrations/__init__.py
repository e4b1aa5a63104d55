"""Use of Ropewalk from other programs: the spaCy component, and the Python client of `ropewalk serve`."""
