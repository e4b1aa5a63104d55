"""Language identification: `identify` returns the language of a text with its probability.

A linear classifier over character n-grams scores each language; recipes/language_identifier.py trains it on treebanks.
"""

from ropewalk.identification.identifier import UNKNOWN, LanguageGuess, LanguageIdentifier, identify

__all__ = ["UNKNOWN", "LanguageGuess", "LanguageIdentifier", "identify"]
