"""The numbers that kernels and their callers share."""

# What `trees.check` found.
TREE = 0
HEAD_MISSING = 1
HEAD_OUT_OF_RANGE = 2
CYCLE = 3

# How an arc stands to its rope cover.
STRUCTURAL = 0
LEANS_LEFT = 1  # shares the left end of a longer rope
LEANS_RIGHT = 2  # shares the right end of a longer rope
LEANS_NOWHERE = 3

# A bracket is a sum of these, plus INDEX times its index (or its plane, where an encoding has planes).
RIGHTWARD = 1  # of an arc to the right: `/` and `>`; otherwise `<` and `\`
CLOSING = 2  # at the right end of its arc: `\` and `>`; otherwise `<` and `/`
SUPER = 4  # of a structural arc, written with `^`
INDEX = 8

# What can be wrong with labels.
UNMATCHED_CLOSING = 1  # a closing bracket that finds nothing to match
UNMATCHED_OPENING = 2  # an opening bracket that nothing closes
SECOND_HEAD = 3  # an arc into a word that has a head already
CLOSES_CYCLE = 4  # an arc that would close a cycle
SECOND_ROOT = 5  # an arc from node 0, which has a dependent already
NO_HEAD = 6  # a word that no label gives a head
OUTSIDE = 7  # a head outside the sentence
IMPOSSIBLE = 8  # a step that cannot be taken where it stands

# What the repair of missing heads did.
ATTACHED = 1  # a word without a head was given one
REROOTED = 2  # a second root was hung on the first

# What `conllu.scan` found.
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

# The bits of a 7-bit label; the dependents' bits of plane 2 lie two places below those of plane 1.
BIT_RIGHT = 4
BIT_LEFT = 8
BIT_FARTHEST = 16
BIT_SECOND_PLANE = 32
BIT_HEAD_LEFT = 64

# The bits of a hexatag.
WORD_RIGHT = 1
FENCE_HEAD_RIGHT = 2
FENCE_RIGHT = 4

# Transition systems, and their transitions; a symbol is a transition plus TIMES times how often it is repeated.
ARC_STANDARD = 0
ARC_EAGER = 1
ARC_HYBRID = 2
SHIFT = 0
LEFT_ARC = 1
RIGHT_ARC = 2
REDUCE = 3
NO_ARC = 4
TIMES = 8

# What `deps.scan` found.
DEPS_FORM = 1  # an item that is no HEAD:RELATION
DEPS_HEAD = 2  # a head that the sentence does not have
DEPS_SELF = 3  # a word that is its own head
DEPS_MULTIWORD = 4  # a multiword token with DEPS
DEPS_TWICE = 5  # an item given twice
DEPS_ORDER = 6  # items that are not sorted
DEPS_ROOT = 7  # the relation root without head 0, or head 0 without it

# What else can be wrong with the labels of graphs.
ROOT_DEPENDENT = 9  # an arc into node 0
OWN_HEAD = 10  # an arc from a word to itself
GIVEN_TWICE = 11  # an arc that is there already
RELATION_COUNT = 12  # not as many relations as arcs

# What a plane of a graph may hold, beside arcs of one direction that do not cross.
ONE_HEAD_A_SIDE = 1  # at most one head on either side of a word
ONE_HEAD = 2  # at most one head

# The six bits of a word in one plane of a graph, the first of the label's highest.
GRAPH_HAS_RIGHT = 1
GRAPH_HAS_LEFT = 2
GRAPH_FARTHEST_RIGHT = 4
GRAPH_FARTHEST_LEFT = 8
GRAPH_RIGHT_DEPENDENT = 16
GRAPH_LEFT_DEPENDENT = 32
