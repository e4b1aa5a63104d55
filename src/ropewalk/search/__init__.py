"""Search of treebanks with patterns over words and their relations, and rules that change the words that are found.

docs/search.md describes the language of patterns, docs/rewriting.md that of rules.
"""

from ropewalk.search.matching import Match, Matches, Pattern, compile  # noqa: A004 - as `re.compile`
from ropewalk.search.rewriting import Rewriting, rewrite
from ropewalk.search.rules import RewriteRule, compile_rule, compile_rules

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
