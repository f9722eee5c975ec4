// The engine of a page: kiplab in Pyodide, in a thread of its own. It asks for the files beside it
// and for nothing else.
const FILES = {
  "pyodide.mjs": "text/javascript", "pyodide.asm.mjs": "text/javascript",
  "pyodide.asm.wasm": "application/wasm", "pyodide-lock.json": "application/json",
  "python_stdlib.zip": "application/zip", "kiplab.zip": "application/zip",
};
const fetched = self.fetch.bind(self);
const here = new URL("./", self.location.href).href;
let loaded = 0;

const counted = () => new TransformStream({
  transform(chunk, onward) {
    loaded += chunk.length;
    postMessage({ loaded });
    onward.enqueue(chunk);
  },
});

// All is there before Pyodide begins: it would wait without end for what does not come.
const fileOf = async ([name, type]) => {
  const reply = await fetched(`${here}${name}.packed`);
  if (!reply.ok) throw new Error(`${name}.packed is not there (HTTP ${reply.status})`);
  const stream = reply.body.pipeThrough(counted()).pipeThrough(new DecompressionStream("gzip"));
  return [name, await new Response(stream, { headers: { "Content-Type": type } }).blob()];
};

const begin = async () => {
  // A page may forbid it: this says so at once.
  await WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
  const files = Object.fromEntries(await Promise.all(Object.entries(FILES).map(fileOf)));
  self.fetch = async (address) => new Response(files[String(address).split("/").pop()]);
  postMessage({ starting: true });
  const imported = (name) => import(URL.createObjectURL(files[name]));
  const { loadPyodide } = await imported("pyodide.mjs");
  const { default: createPyodideModule } = await imported("pyodide.asm.mjs");
  const python = await loadPyodide({ indexURL: here, packageBaseUrl: here, createPyodideModule });
  // Into Python's own folder, which is the first place where it looks for modules.
  python.unpackArchive(await files["kiplab.zip"].arrayBuffer(), "zip");
  return python.pyimport("kiplab.pages.live").answer;
};

const lastLine = (problem) => String(problem.message ?? problem).trim().split("\n").pop();
const begun = begin();
begun.catch((problem) => postMessage({ why: lastLine(problem) }));
self.onmessage = async ({ data: [number, question] }) => {
  const answer = await begun;
  try {
    postMessage({ number, answer: JSON.parse(answer(question)) });
  } catch (problem) {
    postMessage({ number, answer: { problem: lastLine(problem) } });
  }
};
