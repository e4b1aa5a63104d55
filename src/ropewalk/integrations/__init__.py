"""Ropewalk in other programs: the spaCy component, the client of a served parser."""
