"""The names of the networks in an exported folder."""

from ropewalk.models.scorer import GRAPHS, TREES

WORDS = "words.onnx"  # of a bilstm or an sru: features of word types to vectors
ENCODER = "encoder.onnx"  # vectors of words, or subwords, to contextual vectors
HEADS = "heads.onnx"  # vectors to the scores of labels and tags, and to the sides of pairs and arcs
PAIRS = {TREES: "pairs.onnx", GRAPHS: "graph-pairs.onnx"}  # words and heads to scores of relations
ARCS = {TREES: "arcs.onnx", GRAPHS: "graph-arcs.onnx"}  # the words of one sentence to scores of heads
BESIDE = ".data"  # suffix of the file beside a network with weights that do not fit into one file
