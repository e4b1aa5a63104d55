"""Explanations of the problems of files, by the code of the problem: its meaning, a remedy and an example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ropewalk.errors import demand_known

UDTOOLS: Final = "udtools:"  # begins the codes of problems that UD's own validator finds
EXAMPLE: Final = """\
# newdoc id = ropes
# sent_id = s-1
# text = She can't go, he said.
1	She	she	PRON	_	Case=Nom|Number=Sing	4	nsubj	4:nsubj	_
2-3	can't	_	_	_	_	_	_	_	_
2	ca	can	AUX	MD	_	4	aux	4:aux	_
3	n't	not	PART	_	_	4	advmod	4:advmod	_
4	go	go	VERB	_	_	7	ccomp	7:ccomp	SpaceAfter=No
5	,	,	PUNCT	_	_	4	punct	4:punct	_
6	he	he	PRON	_	_	7	nsubj	7:nsubj|7.1:nsubj	_
7	said	say	VERB	_	_	0	root	0:root	SpaceAfter=No
7.1	thought	think	VERB	_	_	_	_	7:conj:and	_
8	.	.	PUNCT	_	_	7	punct	7:punct	_

# newpar
# sent_id = s-2
# text = Go!
1	Go	go	VERB	_	Mood=Imp	0	root	0:root	SpaceAfter=No
2	!	!	PUNCT	_	_	1	punct	1:punct	_

"""
SEMANTIC_EXAMPLE: Final = """\
#SDP 2015
#1
1	Ropes	rope	NNS	-	-	_	ACT-arg
2	break	break	VBP	+	+	_	_

"""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The meaning of a problem, its remedy and an example.

    The example is made from a correct file, `EXAMPLE`, or `SEMANTIC_EXAMPLE` for .sdp files: `wrong` replaces the text
    `right` in it.
    """

    meaning: str
    remedy: str
    right: str = ""
    wrong: str = ""

    @property
    def whole(self) -> str:
        """The corrected example: the same file without this problem."""
        return EXAMPLE if self.right in EXAMPLE else SEMANTIC_EXAMPLE

    @property
    def spoilt(self) -> str:
        """The example file with the problem."""
        return self.whole.replace(self.right, self.wrong, 1)

    def lines(self) -> tuple[list[str], list[str]]:
        """Return the lines in which the two example files differ: those with the problem, and those without it.

        If one of the lists would be empty, both begin with the equal line before the difference.
        """
        wrong, right = self.spoilt.split("\n"), self.whole.split("\n")
        before = ""
        while wrong and right and wrong[0] == right[0]:
            before = wrong.pop(0)
            del right[0]
        while wrong and right and wrong[-1] == right[-1]:
            del wrong[-1], right[-1]
        if before and not (any(wrong) and any(right)):
            wrong, right = [before, *wrong], [before, *right]
        return wrong, right


EXPLANATIONS: Final[dict[str, Explanation]] = {
    # the file as a whole
    "unreadable": Explanation(
        "The file cannot be read: it does not exist, it is a folder, or it is compressed otherwise than its name says.",
        "Correct the name. A file that ends in .gz or .xz must be compressed so, and no other may be: for instance "
        "gzip -c a.conllu > a.conllu.gz.",
    ),
    "empty-file": Explanation(
        "The file has no bytes.", "Write it again; whatever made it may have failed.", EXAMPLE, ""
    ),
    "too-long": Explanation(
        "A sentence has more bytes than are read at a time; most likely blank lines between sentences are missing.",
        "Put a blank line after each sentence.",
        "punct\t_\n\n# newpar",
        "punct\t_\n# newpar",
    ),
    "utf-8": Explanation(
        "A byte is not UTF-8.",
        "Convert the file from its encoding, for instance with iconv -f latin1 -t utf-8.",
        "he said.\n1",
        "he s\udce4id.\n1",
    ),
    "bom": Explanation(
        "The file begins with a byte order mark, which CoNLL-U does not have.",
        "Save it as UTF-8 without a mark, or remove the first three bytes with tail -c +4.",
        "# newdoc id",
        "\ufeff# newdoc id",
    ),
    "crlf": Explanation(
        "Lines end in CR LF, as Windows writes them; CoNLL-U has LF alone. It is reported once a file.",
        "Convert the file, for instance with dos2unix.",
        "7:punct\t_\n",
        "7:punct\t_\r\n",
    ),
    "nul": Explanation(
        "The file has a NUL byte: it is damaged, or in UTF-16.",
        "Convert it to UTF-8, or get it again.",
        "# text = Go!",
        "# text = Go!\0",
    ),
    "unicode": Explanation(
        "Characters are not in Unicode's normal form C: a letter and its accent are two characters.",
        "Normalize the file, for instance with uconv -x nfc.",
        "id = ropes",
        "id = cafe\u0301",
    ),
    "no-final-blank-line": Explanation(
        "The last sentence has no blank line after it.",
        "Add an empty line at the end of the file.",
        "1:punct\t_\n\n",
        "1:punct\t_\n",
    ),
    "no-final-newline": Explanation(
        "The last line has no line break.",
        "Add a line break and an empty line at the end of the file.",
        "1:punct\t_\n\n",
        "1:punct\t_",
    ),
    "blank-line": Explanation(
        "There is a blank line where no sentence ends.",
        "Keep exactly one blank line after each sentence.",
        "# newdoc id = ropes\n",
        "\n# newdoc id = ropes\n",
    ),
    "spaces": Explanation(
        "A line that looks empty holds spaces.",
        "Remove the spaces.",
        "punct\t_\n\n# newpar",
        "punct\t_\n  \n# newpar",
    ),
    # lines and columns
    "columns": Explanation(
        "A line has not ten columns, or in an .sdp file not seven and one for each predicate. Tabs may have become "
        "spaces.",
        "Separate columns by single tabs, and write _ for an empty one.",
        "MD\t_\t4",
        "MD _\t4",
    ),
    "empty-column": Explanation(
        "A column has no character.", "Write _ where there is no value.", "can\tAUX\tMD", "can\tAUX\t"
    ),
    "column-space": Explanation(
        "A column has a space. Only FORM, LEMMA and MISC may have single ones, between other characters.",
        "Remove the space, or write _ in its place.",
        "\tMD\t",
        "\tM D\t",
    ),
    "comment": Explanation(
        "A comment stands among the words.",
        "Move it before the first word of the sentence.",
        "\n6\the",
        "\n# a note\n6\the",
    ),
    "no-words": Explanation(
        "There are comments without a sentence.",
        "Remove them, or add the words.",
        "# newpar\n",
        "# newpar\n\n",
    ),
    "id": Explanation(
        "ID is no number, range or number with a point.",
        "Number words 1, 2, 3; write 3-4 for a multiword token and 3.1 for an empty node.",
        "\n6\the",
        "\n6a\the",
    ),
    "id-order": Explanation(
        "Words are not numbered from 1 without gaps.", "Number the words of the sentence again.", "\n6\the", "\n9\the"
    ),
    "multiword-start": Explanation(
        "The range of a multiword token does not begin at the word after its line.",
        "Put the line right before its first word.",
        "2-3\tcan't",
        "3-4\tcan't",
    ),
    "multiword-order": Explanation(
        "The range of a multiword token ends before it begins.",
        "Write the lower number first.",
        "2-3\tcan't",
        "2-1\tcan't",
    ),
    "multiword-end": Explanation(
        "The range of a multiword token goes beyond the sentence.",
        "Correct its second number.",
        "2-3\tcan't",
        "2-30\tcan't",
    ),
    "multiword-overlap": Explanation(
        "Two multiword tokens have a word in common.",
        "Let each word be in at most one.",
        "\n3\tn't",
        "\n3-4\tn'tgo\t_\t_\t_\t_\t_\t_\t_\t_\n3\tn't",
    ),
    "empty-node-order": Explanation(
        "Empty nodes after a word are not numbered from 1 without gaps.", "Number them again.", "7.1\tth", "7.2\tth"
    ),
    "not-blank": Explanation(
        "A multiword token or an empty node has a value where only words may have one.",
        "Write _ there; lemma, tags and relations are those of its words.",
        "2-3\tcan't\t_",
        "2-3\tcan't\tcannot",
    ),
    # comments and text
    "sent-id": Explanation(
        "The sentence has no name, several, or one with spaces.",
        "Give it one comment of the form # sent_id = NAME.",
        "# sent_id = s-2\n",
        "",
    ),
    "sent-id-twice": Explanation(
        "Two sentences have the same sent_id.", "Give one of them another name.", "id = s-2", "id = s-1"
    ),
    "comments": Explanation(
        "newdoc or newpar is there twice before one sentence.", "Keep one.", "# newpar\n", "# newpar\n# newpar\n"
    ),
    "text": Explanation(
        "The comment # text is missing, or is not what the forms and the spaces after them spell.",
        "Correct the comment, the forms, or SpaceAfter=No in MISC.",
        "# text = Go!",
        "# text = Gone!",
    ),
    "space-after": Explanation(
        "Spaces in the text are not those that SpaceAfter=No tells, or it is at a word where it has no meaning.",
        "Put SpaceAfter=No into MISC of a token, and of no other line, if no space follows it in # text.",
        "7:ccomp\tSpaceAfter=No",
        "7:ccomp\t_",
    ),
    "misc": Explanation(
        "MISC has something twice that can be there once.", "Keep one.", "4:punct\t_", "4:punct\tLang=en|Lang=de"
    ),
    # tags and features
    "unknown-upos": Explanation(
        "UPOS is none of the 17 universal tags. Words without a tag, _, are reported once a file.",
        "Use ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X; tags of the language go "
        "into XPOS.",
        "\tgo\tgo\tVERB",
        "\tgo\tgo\tVERBB",
    ),
    "feats": Explanation(
        "FEATS is not Feature=Value, sorted by name without regard to case, each name once.",
        "Sort the features; write several values as Case=Acc,Nom.",
        "Case=Nom|Number=Sing",
        "Number=Sing|Case=Nom",
    ),
    # trees
    "relation": Explanation(
        "DEPREL has other characters than small letters and one colon.",
        "Write it as obl or obl:tmod.",
        "\taux\t",
        "\tAux\t",
    ),
    "unknown-relation": Explanation(
        "The relation, without what follows the colon, is none of the 37 universal ones.",
        "Correct it, or make it a subtype of a universal one, such as obl:mine.",
        "\tccomp\t",
        "\tcomp\t",
    ),
    "head": Explanation(
        "HEAD is no number.", "Write the number of a word, or 0 for the root.", "4\taux\t", "four\taux\t"
    ),
    "head-range": Explanation(
        "HEAD is greater than the number of words.",
        "Correct it; words are numbered anew in each sentence.",
        "4\taux\t",
        "40\taux\t",
    ),
    "missing-head": Explanation(
        "A word has no head. It is reported once a sentence.", "Write the number of its head.", "4\taux\t", "_\taux\t"
    ),
    "cycle": Explanation(
        "Words hang on each other in a circle that never reaches the root.",
        "Give one of them a head outside the circle.",
        "_\t_\t7\tccomp",
        "_\t_\t2\tccomp",
    ),
    "no-root": Explanation(
        "No word of the sentence has HEAD 0, so there is a cycle too.",
        "Let the main predicate have HEAD 0 and the relation root.",
        "0\troot\t0:root\tSpaceAfter=No\n7",
        "4\tdep\t0:root\tSpaceAfter=No\n7",
    ),
    "several-roots": Explanation(
        "More than one word has HEAD 0.",
        "Attach all but one, for instance with parataxis or conj.",
        "7\tccomp\t",
        "0\troot\t",
    ),
    "root-relation": Explanation(
        "HEAD is 0 without the relation root, or the relation is root without HEAD 0.",
        "Make the two agree.",
        "7\tccomp\t",
        "7\troot\t",
    ),
    # enhanced graphs
    "deps": Explanation(
        "An item of DEPS is not HEAD:RELATION.",
        "Write items such as 4:nsubj or 8.1:obj, separated by |.",
        "4:aux",
        "4=aux",
    ),
    "deps-head": Explanation(
        "An item of DEPS has a head that the sentence does not have.", "Correct the number.", "4:aux", "40:aux"
    ),
    "deps-self": Explanation("An item of DEPS joins a word to itself.", "Give it another head.", "4:aux", "2:aux"),
    "deps-twice": Explanation("DEPS has the same item twice.", "Keep one.", "4:aux", "4:aux|4:aux"),
    "deps-order": Explanation(
        "Items of DEPS are not sorted by head, then by relation.",
        "Sort them.",
        "7:nsubj|7.1:nsubj",
        "7.1:nsubj|7:nsubj",
    ),
    "deps-root": Explanation(
        "DEPS has head 0 without the relation root, or root with another head.", "Make the two agree.", "4:aux", "0:aux"
    ),
    "deps-multiword": Explanation(
        "A multiword token has DEPS.",
        "Write _ there; its words have them.",
        "can't\t_\t_\t_\t_\t_\t_\t_",
        "can't\t_\t_\t_\t_\t_\t_\t4:aux",
    ),
    "deps-relation": Explanation(
        "A relation of DEPS is not written as one, such as obl:on:gen.",
        "Use small letters, colons between parts, and _ between words of one part.",
        "4:aux",
        "4:AUX",
    ),
    "unknown-deps-relation": Explanation(
        "A relation of DEPS, without what follows the colon, is neither ref nor one of the 37 universal ones.",
        "Correct it.",
        "4:aux",
        "4:auxx",
    ),
    "deps-missing": Explanation(
        "Some sentences of the file have DEPS and others have none.",
        "Fill DEPS everywhere, for instance with ropewalk enhance --copy, or write _ everywhere.",
        "0:root\tSpaceAfter=No\n2\t!\t!\tPUNCT\t_\t_\t1\tpunct\t1:punct",
        "_\tSpaceAfter=No\n2\t!\t!\tPUNCT\t_\t_\t1\tpunct\t_",
    ),
    "deps-unreached": Explanation(
        "A word or empty node cannot be reached from the root of the enhanced graph.",
        "Add an arc into it from something that can be reached, or 0:root.",
        "0:root\tSpaceAfter=No\n2",
        "2:dep\tSpaceAfter=No\n2",
    ),
    # .sdp files
    "header": Explanation(
        "An .sdp file does not begin with #SDP 2015.", "Add the line.", "#SDP 2015\n", "# semantic graphs\n"
    ),
    "truncated": Explanation(
        "An .sdp file ends inside a sentence.",
        "Add an empty line at its end, or get it again.",
        "+\t_\t_\n\n",
        "+\t_\t_\n",
    ),
    "top": Explanation("The column top is neither + nor -.", "Write + for a top node, else -.", "VBP\t+", "VBP\tx"),
    "pred": Explanation(
        "The column pred is neither + nor -.", "Write + for a predicate, else -.", "NNS\t-\t-", "NNS\t-\tx"
    ),
    "role": Explanation("A role has spaces or |.", "Write a name such as ACT-arg, or _.", "ACT-arg", "ACT arg"),
    "role-self": Explanation(
        "A role joins a predicate to itself.",
        "Write _ in the column of its own predicate.",
        "+\t+\t_\t_",
        "+\t+\t_\tPAT",
    ),
}


def explanation(code: str) -> Explanation:
    """Return the explanation of the problem `code`; raise an `UnknownNameError` with all codes if it is unknown."""
    demand_known("code", code, EXPLANATIONS)
    return EXPLANATIONS[code]
