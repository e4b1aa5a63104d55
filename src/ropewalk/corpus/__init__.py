"""Annotation of whole corpora: many files are parsed, on all cores or a cluster, and written to shards."""

from __future__ import annotations

from ropewalk.corpus.annotate import Annotate

__all__ = ["Annotate"]
