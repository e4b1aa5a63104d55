"""Ropewalk as a step of a job in Spark: `python spark.py IN.parquet OUT`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from ropewalk.corpus import Annotate

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

if __name__ == "__main__":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers need Ropewalk too
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", 64)
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    documents = spark.read.parquet(sys.argv[1])
    annotate = Annotate("en", text="text")

    def annotated(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Annotate the batches of a partition; the model is loaded with the first."""
        for batch in batches:
            yield from annotate(batch).to_batches()

    schema = from_arrow_schema(annotate.schema(to_arrow_schema(documents.schema)))
    documents.mapInArrow(annotated, schema).write.mode("overwrite").parquet(sys.argv[2])
    spark.stop()
