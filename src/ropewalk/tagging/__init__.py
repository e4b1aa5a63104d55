"""Training and using taggers with torch: encoders, heads, the training loop and model folders."""

from ropewalk.models.config import Config, load
from ropewalk.tagging.run import Outcome, train
from ropewalk.tagging.tagger import Tagger, use_threads

__all__ = ["Config", "Outcome", "Tagger", "load", "train", "use_threads"]
