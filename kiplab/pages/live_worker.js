// The engine of a page: kiplab in Pyodide, in a thread of its own. It asks for the files beside it
// and for nothing else.
const FILES = [
  "pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json",
  "kiplab.zip",
];
const TYPES = { mjs: "text/javascript", wasm: "application/wasm" };
const fetched = self.fetch.bind(self);
let loaded = 0;

const counted = () => new TransformStream({
  transform(chunk, onward) {
    loaded += chunk.length;
    postMessage({ loaded });
    onward.enqueue(chunk);
  },
});

// All is there before Pyodide begins: it would wait without end for what does not come.
const fileOf = async (name) => {
  const answer = await fetched(new URL(`${name}.packed`, self.location.href));
  if (!answer.ok) throw new Error(`${name}.packed is not there (HTTP ${answer.status})`);
  const stream = answer.body.pipeThrough(counted()).pipeThrough(new DecompressionStream("gzip"));
  const type = TYPES[name.split(".").pop()] ?? "application/octet-stream";
  return [name, await new Response(stream, { headers: { "Content-Type": type } }).blob()];
};

const begin = async () => {
  // A page may forbid it: this says so at once.
  await WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
  const files = Object.fromEntries(await Promise.all(FILES.map(fileOf)));
  const imported = (name) => import(URL.createObjectURL(files[name]));
  self.fetch = async (address) => new Response(files[String(address).split("/").pop()]);
  postMessage({ starting: true });
  const { loadPyodide } = await imported("pyodide.mjs");
  const { default: createPyodideModule } = await imported("pyodide.asm.mjs");
  const here = new URL("./", self.location.href).href;
  const python = await loadPyodide({ indexURL: here, packageBaseUrl: here, createPyodideModule });
  // Where Python is at home, which is the first place where it looks for modules.
  python.unpackArchive(await files["kiplab.zip"].arrayBuffer(), "zip");
  return python.pyimport("kiplab.pages.live").answer;
};

const lastLine = (problem) => String(problem.message ?? problem).trim().split("\n").pop();

const begun = begin();
begun.catch((problem) => postMessage({ problem: lastLine(problem) }));
self.onmessage = async ({ data: { number, recorded, change } }) => {
  const answer = await begun;
  try {
    postMessage({ number, answer: JSON.parse(answer(recorded, JSON.stringify(change))) });
  } catch (problem) {
    postMessage({ number, answer: { problem: lastLine(problem) } });
  }
};
