"""Search of treebanks with patterns over words and their relations, and rules that change the words that are found.

docs/search.md describes the language of patterns, docs/rewriting.md that of rules.
"""

from ropewalk.search.matching import Match, Matches, Pattern, compile  # noqa: A004 - as `re.compile`
from ropewalk.search.rewrite_rules import RewriteRule, compile_rule, compile_rules
from ropewalk.search.rewriting import Rewriting, rewrite

__all__ = [
    "Match",
    "Matches",
    "Pattern",
    "RewriteRule",
    "Rewriting",
    "compile",
    "compile_rule",
    "compile_rules",
    "rewrite",
]
