"""Compile the kernels with Cython where there is a C compiler; install without them where there is none.

Each kernel is a plain Python file beside a `.pxd` file that gives its C types. An extension that does not
compile is left out, and the Python file serves in its place, slower: `ropewalk --version` says which of the
two is in use.
"""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = Path("src/ropewalk/kernels")
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
        "boundscheck": False,
        "wraparound": False,
        "initializedcheck": False,
        "cdivision": True,
    },
    build_dir="build/cython",
)
for extension in extensions:
    extension.optional = True  # Cython makes new extensions out of those it is given and drops this
setup(ext_modules=extensions)
