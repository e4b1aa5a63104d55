"""Review of annotated treebanks: find words whose annotation is improbable under a model, the most suspicious first.

docs/review.md is the guide.
"""

from ropewalk.review.suspects import Review, Suspect, SuspectSentence, review

__all__ = ["Review", "Suspect", "SuspectSentence", "review"]
