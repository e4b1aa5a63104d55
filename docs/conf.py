"""Settings of Sphinx for the site. Its sources are the repository's own pages: `make site` builds it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import ropewalk

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Ropewalk"
author = "The Ropewalk authors"
release = version = ropewalk.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
root_doc = "docs/README"
include_patterns = [
    "docs/**",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "bench/peers/README.md",
]
exclude_patterns = [".*", "build", "dist", "docs/site", "models", "src", "tests"]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
highlight_language = "text"
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
maximum_signature_line_length = 90
default_role = "code"  # docstrings have names between single backticks
add_module_names = False

html_theme = "furo"
html_title = f"Ropewalk {release}"
html_static_path = ["site"]
html_css_files = ["pictures.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}

COMMANDS = "docs/commands"  # the overview of commands
OWN_PAGES = ("docs/figures/steps.html",)  # pages that are no sources of Sphinx, linked as they are
QUOTED = re.compile(r"(`+[^`]*`+)")


def plain(_app: Sphinx, _what: str, name: str, _object: object, _options: object, lines: list[str]) -> None:
    """Keep what docstrings say as they say it: between backticks is code, all else is text and no markup."""
    if name == "ropewalk.errors":
        return  # it draws the tree of errors, as code
    for place, line in enumerate(lines):
        parts = QUOTED.split(line)
        parts[::2] = [re.sub(r"([*|_\\])", r"\\\1", part) for part in parts[::2]]
        parts[1::2] = [f"``{part.strip('`')}``" for part in parts[1::2]]
        lines[place] = "".join(parts)


def with_contents(app: Sphinx, page: str, text: list[str]) -> None:
    """Add the order of all pages to the first one, which is shown on forges too and has no directives.

    The pages of commands come under their overview in the same way.
    """
    if page == root_doc:
        text[0] += "\n" + (Path(app.confdir) / "site" / "contents.md").read_text(encoding="utf-8")
    elif page == COMMANDS:
        text[0] += "\n```{toctree}\n:hidden:\n:glob:\n\ncommands/*\n```\n"


def finish(app: Sphinx, failure: Exception | None) -> None:
    """Copy pages that are linked as they are, and lead from the first folder to the first page."""
    if failure:
        return
    out, source = Path(app.outdir), Path(app.srcdir)
    for page in OWN_PAGES:
        (out / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / page, out / page)
    title = "<!doctype html><html lang=en><meta charset=utf-8><title>Ropewalk</title>"
    address = f"{root_doc}.html"
    (out / "index.html").write_text(
        f'{title}<meta http-equiv=refresh content="0; url={address}"><a href="{address}">Ropewalk</a></html>\n',
        encoding="utf-8",
    )


def setup(app: Sphinx) -> None:
    """Do all this when Sphinx asks."""
    app.connect("autodoc-process-docstring", plain)
    app.connect("source-read", with_contents)
    app.connect("build-finished", finish)
