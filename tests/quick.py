"""List the test files that a change touches: those changed themselves, and those that import a changed module.

Usage: python tests/quick.py [REVISION], by default against HEAD. Prints one path per line.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent


def changed_files(revision: str) -> list[Path]:
    """Return what differs from a revision, files that git does not track yet included."""
    commands = (["git", "diff", "--name-only", revision], ["git", "ls-files", "--others", "--exclude-standard"])
    names = [
        name
        for command in commands
        for name in subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.split()
    ]
    return [REPOSITORY / name for name in names]


def module_of(path: Path) -> str:
    """Return the dotted name of a module under src or tests."""
    for root in (REPOSITORY / "src", REPOSITORY / "tests"):
        if path.is_relative_to(root):
            return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    return ""


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports anywhere."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def tests_for(changed: list[Path]) -> list[Path]:
    """Return the test files to run for some changed files."""
    modules = {module_of(path) for path in changed if path.suffix in {".py", ".pxd"}} - {""}
    tests = sorted((REPOSITORY / "tests").glob("test_*.py"))
    return [path for path in tests if path in changed or imported(path) & modules]


if __name__ == "__main__":
    for test in tests_for(changed_files(*(sys.argv[1:] or ["HEAD"]))):
        sys.stdout.write(f"{test.relative_to(REPOSITORY)}\n")
