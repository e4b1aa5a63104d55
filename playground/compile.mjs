// Add compiled Python modules to an archive, made by Pyodide's own Python: a browser starts faster with them.
//
// node playground/compile.mjs PYODIDE_FOLDER ARCHIVE

import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [folder, archive] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide({indexURL: folder});
python.FS.writeFile("/given.zip", await readFile(archive));
python.runPython(`
import compileall, pathlib, py_compile, zipfile

site = pathlib.Path("/lib/python3.13/site-packages")
with zipfile.ZipFile("/given.zip") as given:
    given.extractall(site)
mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
compileall.compile_dir(site, quiet=2, invalidation_mode=mode)
with zipfile.ZipFile("/made.zip", "w", zipfile.ZIP_DEFLATED) as made:
    for file in sorted(site.rglob("*")):
        if file.is_file():
            made.write(file, file.relative_to(site))
`);
await writeFile(archive, python.FS.readFile("/made.zip"));
