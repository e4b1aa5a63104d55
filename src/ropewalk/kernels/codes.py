"""The constants that kernels and their callers share."""

# Results of `trees.check`.
TREE = 0
HEAD_MISSING = 1
HEAD_OUT_OF_RANGE = 2
CYCLE = 3

# The part of an arc in a rope cover.
STRUCTURAL = 0
LEANS_LEFT = 1  # shares the left end of a longer rope
LEANS_RIGHT = 2  # shares the right end of a longer rope
LEANS_NOWHERE = 3

# A bracket is a sum of these, plus INDEX times its index (or its plane, where an encoding has planes).
RIGHTWARD = 1  # of an arc to the right: `/` and `>`; otherwise `<` and `\`
CLOSING = 2  # at the right end of its arc: `\` and `>`; otherwise `<` and `/`
SUPER = 4  # of a structural arc, written with `^`
INDEX = 8

# Columns of an automaton's `marks`: the brackets on the stack that a transition concerns.
MARK_OPENS_LEFT = 0  # the superbracket of an arc to the left that it opens: `^<`
MARK_OPENS_RIGHT = 1  # the superbracket of an arc to the right that it opens: `^/`
MARK_WAITS = 2  # the superbracket under which its opening semibracket `<` waits
MARK_LEANS = 3  # the superbracket on which its closing semibracket `>` leans
MARK_CLOSES_LEFT = 4  # the superbracket that it closes with `^\\`
MARK_CLOSES_RIGHT = 5  # the superbracket that it closes with `^>`

# Faults of labels.
UNMATCHED_CLOSING = 1  # a closing bracket without an opening one
UNMATCHED_OPENING = 2  # an opening bracket that nothing closes
SECOND_HEAD = 3  # an arc into a word that has a head already
CLOSES_CYCLE = 4  # an arc that would close a cycle
SECOND_ROOT = 5  # an arc from node 0, which has a dependent already
NO_HEAD = 6  # a word that no label gives a head
OUTSIDE = 7  # a head outside the sentence
IMPOSSIBLE = 8  # a transition that the current configuration does not allow

# Repairs of missing heads.
ATTACHED = 1  # a word without a head was given one
REROOTED = 2  # a second root was attached to the first

# Problems that `conllu.scan` reports.
COLUMN_COUNT = 1
EMPTY_COLUMN = 2
BAD_ID = 3
ID_ORDER = 4
RANGE_START = 5
RANGE_OVERLAP = 6
RANGE_ORDER = 7
RANGE_END = 8
EMPTY_ORDER = 9
BAD_HEAD = 10
HEAD_RANGE = 11
COMMENT = 12
STRAY_BLANK = 13
NO_WORDS = 14
NO_FINAL_BLANK = 15
NO_FINAL_NEWLINE = 16
CARRIAGE_RETURN = 17
NUL_BYTE = 18

# The bits of a compact label.
OPENS_RIGHT = 1
CLOSES_LEFT = 2
INCOMING_SUPER = 4
HEAD_LEFT = 8
SWAPPED = 16

# The bits of a 7-bit label; the bits for dependents in plane 2 are two positions below those of plane 1.
BIT_RIGHT = 4
BIT_LEFT = 8
BIT_FARTHEST = 16
BIT_SECOND_PLANE = 32
BIT_HEAD_LEFT = 64

# The bits of a hexatag.
WORD_RIGHT = 1
FENCE_HEAD_RIGHT = 2
FENCE_RIGHT = 4

# Transition systems and their transitions; a symbol is a transition plus TIMES times its number of repetitions.
ARC_STANDARD = 0
ARC_EAGER = 1
ARC_HYBRID = 2
SHIFT = 0
LEFT_ARC = 1
RIGHT_ARC = 2
REDUCE = 3
NO_ARC = 4
TIMES = 8

# Columns and bytes of CoNLL-U; values.pxd repeats them for the C compiler.
COLUMNS = 10
FORM = 1
HEAD = 6
DEPS = 8
TAB = 9
NEWLINE = 10
RETURN = 13
SPACE = 32
HASH = 35
HYPHEN = 45
DOT = 46
ZERO = 48
NINE = 57
COLON = 58
UNDERSCORE = 95
BAR = 124
HUGE = 1_000_000_000  # larger numbers are read as this one

# Problems that `deps.scan` reports.
DEPS_FORM = 1  # an item that is no HEAD:RELATION
DEPS_HEAD = 2  # a head that the sentence does not have
DEPS_SELF = 3  # a word that is its own head
DEPS_MULTIWORD = 4  # a multiword token with DEPS
DEPS_TWICE = 5  # a repeated item
DEPS_ORDER = 6  # items that are not sorted
DEPS_ROOT = 7  # the relation root without head 0, or head 0 without it

# Further faults of the labels of graphs.
ROOT_DEPENDENT = 9  # an arc into node 0
OWN_HEAD = 10  # an arc from a word to itself
GIVEN_TWICE = 11  # a repeated arc
RELATION_COUNT = 12  # not as many relations as arcs

# Further limits of a plane of a graph, whose arcs of one direction never cross.
ONE_HEAD_A_SIDE = 1  # at most one head on either side of a word
ONE_HEAD = 2  # at most one head

# The six bits of a word in one plane of a graph; the first plane has the label's highest bits.
GRAPH_HAS_RIGHT = 1
GRAPH_HAS_LEFT = 2
GRAPH_FARTHEST_RIGHT = 4
GRAPH_FARTHEST_LEFT = 8
GRAPH_RIGHT_DEPENDENT = 16
GRAPH_LEFT_DEPENDENT = 32

# Relations between words a and b of a search pattern.
SAME = 0
OTHER = 1
HEAD_OF = 2
ANCESTOR_OF = 3
SIBLING_OF = 4
BEFORE = 5
SAME_SUBTREE = 6
ARC_TO = 7
PATH_TO = 8
ARC_SIBLING_OF = 9

# Columns of the tables of edges and parts of a search pattern; search.pxd repeats them for the C compiler.
EDGE_CODE = 0
EDGE_SIDE = 1
EDGE_LEVEL = 2
EDGE_LOW = 3
EDGE_HIGH = 4
EDGE_LABEL = 5
PART_FIRST = 0
PART_LAST = 1
PART_FEWEST = 2
PART_MOST = 3
