// Pyodide's loadPyodide, which tells the page what it loads. The kernel's worker imports this file.
import { loadPyodide as load } from "./pyodide.mjs";

export { version } from "./pyodide.mjs";

export async function loadPyodide(options) {
  const page = new BroadcastChannel("kiplab-loading");
  const fetch = globalThis.fetch;
  const of = options.packages.length + 3;
  let files = 0;
  globalThis.fetch = (what, ...more) => {
    const name = String(what.url ?? what).split("/").pop().split(/-\d|\.(?!asm)/)[0];
    page.postMessage({ files: Math.min(++files, of), of, name });
    return fetch(what, ...more);
  };
  try {
    return await load(options);
  } finally {
    globalThis.fetch = fetch;
    page.postMessage({ started: true });
    page.close();
  }
}
