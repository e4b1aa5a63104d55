"""What reads the words: words of sentences in, one vector for each word out."""

from ropewalk.training.encoders.base import Batch, OwnEncoder, WordEncoder
from ropewalk.training.encoders.bilstm import BiLSTM
from ropewalk.training.encoders.reader import ReaderEncoder
from ropewalk.training.encoders.transformer import Transformer

__all__ = ["Batch", "BiLSTM", "OwnEncoder", "ReaderEncoder", "Transformer", "WordEncoder"]
