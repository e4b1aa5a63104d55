"""Ropewalk as a step of datatrove: `python datatrove_step.py IN OUT`, folders of JSON lines."""

from __future__ import annotations

import itertools
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter

from ropewalk.corpus import Annotate

if TYPE_CHECKING:
    from datatrove.data import DocumentsPipeline


class Parse(PipelineStep):
    """Puts the sentences of each document into its metadata; documents that cannot be parsed are dropped."""

    type = "ANNOTATE"
    name = "Ropewalk"

    def __init__(self, model: str = "en", together: int = 64) -> None:
        super().__init__()
        self.annotate = Annotate(model)
        self.together = together

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        """Annotate documents as they come."""
        waiting = iter(data)
        while documents := list(itertools.islice(waiting, self.together)):
            with self.track_time():
                table = self.annotate(pa.table({"text": [document.text for document in documents]}))
            for document, row in zip(documents, table.to_pylist(), strict=True):
                if row["error"] is None:
                    document.metadata["sentences"] = row["sentences"]
                    self.update_doc_stats(document)
                    yield document
                else:
                    self.stat_update("dropped")


if __name__ == "__main__":
    LocalPipelineExecutor([JsonlReader(sys.argv[1]), Parse(), JsonlWriter(sys.argv[2])], tasks=2, workers=2).run()
