"""Print the lowest versions that pyproject.toml allows: those of the core, and of the extras that are named.

`pip install $(python .ci/oldest.py serve subwords)`. What an extra takes from other extras is left out.
"""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
wanted = [*project["dependencies"], *(one for name in sys.argv[1:] for one in project["optional-dependencies"][name])]
for requirement in wanted:
    if not requirement.startswith(f"{project['name']}["):
        found = re.fullmatch(r"([\w-]+)>=([\d.]+)(,<[\d.]+)?", requirement)
        if found is None:
            sys.exit(f"{requirement}: has no lowest version; expected NAME>=VERSION")
        sys.stdout.write(f"{found[1]}=={found[2]}\n")
