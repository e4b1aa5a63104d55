"""Raw text to sentences, tokens and words: what is learnt from a treebank, what a network reads, what it says."""
