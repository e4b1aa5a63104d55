"""Ropewalk as a step of a pipeline in Ray Data: `python ray_data.py IN.parquet OUT`."""

from __future__ import annotations

import sys

import ray

from ropewalk.corpus import Annotate

if __name__ == "__main__":
    ray.init(address="local", include_dashboard=False, log_to_driver=False)  # or the address of a cluster
    ray.data.DataContext.get_current().enable_progress_bars = False
    cores = int(ray.cluster_resources()["CPU"])
    documents = ray.data.read_parquet(sys.argv[1])
    annotated = documents.map_batches(
        Annotate,
        fn_constructor_kwargs={"model": "en", "text": "text"},
        batch_format="pyarrow",
        batch_size=64,
        # Processes, each with the model and one thread; a core is left for reading and writing, which else never begin.
        compute=ray.data.ActorPoolStrategy(size=cores - 1),
        num_cpus=1,
    )
    annotated.write_parquet(sys.argv[2])
