"""Compile the kernels with Cython where there is a C compiler; install without them where there is none.

Each kernel is a plain Python file beside a `.pxd` file that gives its C types. What Cython needs to read buffers
is compiled once, as a module that all kernels import, not into each of them. An extension that does not compile
is left out, and the Python file serves in its place, slower: `ropewalk --version` says which of the two is in use.
The constants of `codes.py` become `codes.pxi`, an enum that type files include, so that the C compiler knows them.
With ROPEWALK_BOUNDSCHECK=1 kernels look at every index before they use it: for tests (`make bounds`).
"""

import os
import runpy
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = Path("src/ropewalk/kernels")
SHARED = "ropewalk.kernels.buffers"
BOUNDSCHECK = os.environ.get("ROPEWALK_BOUNDSCHECK", "") not in {"", "0"}
NO_SYMBOLS = [] if os.name == "nt" else ["-g0"]  # what debuggers need is most of a compiled kernel
NO_HURRY = (
    [] if os.name == "nt" else ["-O1"]
)  # the shared module works at the borders of kernels, in none of their loops

BUILD = Path("build/checked/cython" if BOUNDSCHECK else "build/cython")

constants = {name: value for name, value in runpy.run_path(str(KERNELS / "codes.py")).items() if name.isupper()}
enum = "".join(["cdef enum:\n", *(f"    {name} = {value}\n" for name, value in constants.items())])
included = BUILD / "codes.pxi"
if not included.exists() or included.read_text(encoding="utf-8") != enum:  # a new file compiles all kernels again
    BUILD.mkdir(parents=True, exist_ok=True)
    included.write_text(enum, encoding="utf-8")
kernels = {f"ropewalk.kernels.{types.stem}": types.with_suffix(".py") for types in sorted(KERNELS.glob("*.pxd"))}
extensions = cythonize(
    [
        Extension(SHARED, [(KERNELS / "buffers.c").as_posix()], extra_compile_args=NO_SYMBOLS + NO_HURRY),
        *(Extension(name, [source.as_posix()], extra_compile_args=NO_SYMBOLS) for name, source in kernels.items()),
    ],
    compiler_directives={
        "language_level": "3",
        "annotation_typing": False,  # Python's annotations are for readers; the `.pxd` gives the C types
        "infer_types": True,
        "boundscheck": BOUNDSCHECK,
        "show_performance_hints": not BOUNDSCHECK,  # it would advise against the checks
        "wraparound": False,
        "initializedcheck": False,
        "cdivision": True,
        "freethreading_compatible": True,  # kernels share nothing but what their callers hand them
    },
    include_path=[BUILD.as_posix()],
    build_dir=BUILD.as_posix(),
    shared_utility_qualified_name=SHARED,
)
for extension in extensions:
    extension.optional = True  # Cython makes new extensions out of those it is given and drops this
setup(ext_modules=extensions, options={"build_ext": {"parallel": os.cpu_count()}})
