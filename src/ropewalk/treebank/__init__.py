"""Annotated sentences as columns, and views of their documents, sentences and words."""
