// One line that says what the page is loading, from its first second until the kernel is ready.
(() => {
  const line = document.createElement("div");
  line.id = "kiplab-loading";
  line.setAttribute("role", "status");
  line.style.cssText =
    "position:fixed;z-index:10000;left:50%;bottom:2em;transform:translateX(-50%);padding:.5em 1em;" +
    "border-radius:.4em;background:#1f2933;color:#fff;font:15px/1.4 system-ui,sans-serif";
  let bytes = 0, kernel = "";

  const say = (text) => {
    if (line.textContent !== text) line.textContent = text;
    if (!line.isConnected) document.documentElement.append(line);
  };
  // A window without the focus has no current widget yet.
  const opened = () => {
    const shell = window.jupyterapp?.shell;
    return shell?.currentWidget ?? shell?.widgets("main").next().value;
  };
  const session = () => opened()?.context?.sessionContext;
  const ready = () => {
    const now = session()?.session?.kernel;
    return now?.connectionStatus === "connected" && ["idle", "busy"].includes(now.status);
  };
  const update = () => {
    if (ready() || (opened() && !session() && !kernel)) {
      line.remove();
      kernel = "";
    } else if (line.isConnected) {
      say(kernel || `Loading JupyterLab: ${(bytes / 1e6).toFixed(1)} MB`);
    }
  };

  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) bytes += entry.transferSize;
  }).observe({ type: "resource", buffered: true });
  new BroadcastChannel("kiplab-loading").onmessage = ({ data }) => {
    kernel = data.started ? "Starting Python" : `Loading Python: ${data.name}, file ${data.files} of ${data.of}`;
    say(kernel);
  };
  say("Loading JupyterLab");
  setInterval(update, 250);
})();
