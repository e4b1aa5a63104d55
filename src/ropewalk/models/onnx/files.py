"""The files of an exported folder that hold networks."""

WORDS = "words.onnx"  # of a bilstm: features of word types to vectors
ENCODER = "encoder.onnx"  # vectors of words in sentences, or subwords, to vectors that know the sentence
HEADS = "heads.onnx"  # vectors to scores of labels and tags, and to what pairs are scored by
PAIRS = "pairs.onnx"  # words and heads to scores of relations
ARCS = "arcs.onnx"  # the words of one sentence to scores of heads
GRAPH_PAIRS = "graph-pairs.onnx"  # likewise of enhanced graphs,
GRAPH_ARCS = "graph-arcs.onnx"  # each arc by itself
BESIDE = ".data"  # ends the name of the file beside a network that holds weights which do not fit into one file
