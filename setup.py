"""Compile the kernels with Cython where there is a C compiler; install without them where there is none.

Each kernel is a plain Python file beside a `.pxd` file that gives its C types. An extension that does not
compile is left out, and the Python file serves in its place, slower: `ropewalk --version` says which of the
two is in use. With ROPEWALK_BOUNDSCHECK=1 they look at every index before they use it: for tests (`make bounds`).
"""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = Path("src/ropewalk/kernels")
BOUNDSCHECK = os.environ.get("ROPEWALK_BOUNDSCHECK", "") not in {"", "0"}
NO_SYMBOLS = [] if os.name == "nt" else ["-g0"]  # what debuggers need is most of a compiled kernel

extensions = cythonize(
    [
        Extension(
            f"ropewalk.kernels.{types.stem}", [types.with_suffix(".py").as_posix()], extra_compile_args=NO_SYMBOLS
        )
        for types in sorted(KERNELS.glob("*.pxd"))
    ],
    compiler_directives={
        "language_level": "3",
        "annotation_typing": False,  # Python's annotations are for readers; the `.pxd` gives the C types
        "infer_types": True,
        "boundscheck": BOUNDSCHECK,
        "wraparound": False,
        "initializedcheck": False,
        "cdivision": True,
    },
    build_dir="build/checked/cython" if BOUNDSCHECK else "build/cython",
)
for extension in extensions:
    extension.optional = True  # Cython makes new extensions out of those it is given and drops this
setup(ext_modules=extensions)
