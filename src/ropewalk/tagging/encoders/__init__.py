"""What reads the words: words of sentences in, one vector for each word out."""

from ropewalk.tagging.encoders.base import Batch, Encoder
from ropewalk.tagging.encoders.bilstm import BiLSTM
from ropewalk.tagging.encoders.transformer import Transformer

__all__ = ["Batch", "BiLSTM", "Encoder", "Transformer"]
