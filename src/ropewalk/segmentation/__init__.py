"""Raw text to sentences, tokens and words."""
