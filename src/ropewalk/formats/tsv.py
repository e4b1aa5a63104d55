"""Word tables with tabs between the columns: one row for each word, after a header."""

from __future__ import annotations

from ropewalk.formats.csv import separated

FORMAT = separated("\t", ".tsv", "text/tab-separated-values")
