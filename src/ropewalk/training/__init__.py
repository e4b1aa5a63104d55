"""Training and using taggers with torch: encoders, heads, the training loop and model folders."""

from ropewalk.models.config import Config, load
from ropewalk.training.run import Outcome, train
from ropewalk.training.tagger import Tagger, use_threads

__all__ = ["Config", "Outcome", "Tagger", "load", "train", "use_threads"]
