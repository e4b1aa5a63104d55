"""Whole corpora: documents from files of any store, parsed on all cores or a cluster, and written in shards."""

from __future__ import annotations

from ropewalk.corpus.annotate import Annotate

__all__ = ["Annotate"]
