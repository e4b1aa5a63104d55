"""Lemma rules and enhanced dependencies."""
