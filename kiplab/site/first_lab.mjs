// node first_lab.mjs FOLDER [--compile]: a play, a search and a Lab's first drawing by the Python in
// FOLDER, printed as JSON. With --compile, what they imported is bytecode afterwards.
import fs from "fs";
import path from "path";
import { pathToFileURL } from "url";

// What a kernel's hooks find in a browser, and not in node.
globalThis.XMLHttpRequest = class {};
const folder = path.resolve(process.argv[2]) + "/";
const { loadPyodide } = await import(pathToFileURL(folder + "pyodide.mjs"));
const { packages } = JSON.parse(fs.readFileSync(folder + "pyodide-lock.json"));
// A sealed kiplab opens its exercises with the code of the class.
const env = { PYTHONHASHSEED: "0", KIPLAB_CLASS: process.env.KIPLAB_CLASS ?? "" };
const python = await loadPyodide({ indexURL: folder, env });
await python.loadPackage(Object.keys(packages), { messageCallback: () => {} });

const FIRST_LAB = `
import json, kiplab

run = kiplab.run("timeline-first")
found = kiplab.explore("kafka-14139", kafka="3.4")

if ${"pyodide-kernel" in packages ? "True" : "False"}:
    import IPython, piplite.piplite, pyodide_kernel
    IPython.get_ipython().send_comm = lambda *_: None

kiplab.stations("00"), kiplab.predict("start/slow-request")
lab = kiplab.Lab("timeline-first", controls="step")
lab.seek(3)
json.dumps({"verdict": run.verdict, "search": found.verdict, "drawn": len(lab.box.root.children)})
`;

// Their docstrings are read by students, or by themselves.
const COMPILE = `
import importlib._bootstrap_external as external, importlib.util, io, os, sys, zipfile

TELLING = ("kiplab", "ipython", "ipywidgets", "traitlets", "pyodide_kernel", "piplite", "comm", "anywidget")
STDLIB, WHEELS = "/lib/python314.zip/", "/lib/python3.14/site-packages/"
imported = {getattr(module, "__file__", None) for module in list(sys.modules.values())}

def entry_compiled(name, data, root, optimize):
    # Packages of kiplab read their own __init__.py.
    if root + name not in imported or not name.endswith(".py") or (name.startswith("kiplab/") and name.endswith("__init__.py")):
        return name, data
    code = compile(data, root + name, "exec", dont_inherit=True, optimize=optimize)
    return name + "c", bytes(external._code_to_hash_pyc(code, importlib.util.source_hash(data), False))

def pack(path):
    file, into = os.path.basename(path), io.BytesIO()
    root = STDLIB if file == "python_stdlib.zip" else WHEELS
    optimize = 0 if file.startswith(TELLING) else 2
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(into, "w") as new:
        for entry in sorted(old.namelist()):
            if not entry.endswith("/"):
                name, data = entry_compiled(entry, old.read(entry), root, optimize)
                new.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)
    with open(path, "wb") as file:
        file.write(into.getvalue())

for name in sorted(os.listdir("/folder")):
    if name.endswith((".whl", ".zip")):
        pack("/folder/" + name)
`;

python.registerJsModule("pyodide_js", python);
try {
  console.log(await python.runPythonAsync(FIRST_LAB));
} catch (error) {
  console.error(String(error.message || error));
  process.exit(1);
}
if (process.argv.includes("--compile")) {
  python.FS.mkdir("/folder");
  python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, "/folder");
  python.runPython(COMPILE);
}
