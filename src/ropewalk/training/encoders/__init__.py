"""Encoders: words of sentences in, one vector for each word out."""

from ropewalk.training.encoders.bilstm import BiLSTM
from ropewalk.training.encoders.reader import ReaderEncoder
from ropewalk.training.encoders.sru import SRU
from ropewalk.training.encoders.transformer import Transformer
from ropewalk.training.encoders.word_encoder import Batch, OwnEncoder, WordEncoder

__all__ = ["SRU", "Batch", "BiLSTM", "OwnEncoder", "ReaderEncoder", "Transformer", "WordEncoder"]
