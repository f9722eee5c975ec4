// A function of the fragment's id and of its key in the address; page.py calls it in place.
(function (id, key) {
  "use strict";
  const PAUSE = 1200; // milliseconds that Play stays at a step
  const GROWN_MAX = 1.4; // of a narrow picture that has more room; none is made smaller
  const COLOR = /"(#[0-9a-fA-F]{6}|rgba\([^"]*\))"/g;
  const picture = document.getElementById(id + "-plot");
  const frame = picture.closest(".kiplab-scroll");
  const names = document.createElement("div");
  const player = document.getElementById(id + "-player"); // null where there is nothing to step
  const carried = JSON.parse(document.getElementById(id + "-steps").textContent);
  const { initial, edge, pad, dark } = carried;
  let { pictures, labels, first } = carried;
  let last = first + labels.length - 1;
  const night = matchMedia("(prefers-color-scheme: dark)");
  const within = (step) => Math.max(first, Math.min(step, last));
  let shown = 0;
  let current = initial;
  let painted = Promise.resolve();
  let reached = initial;

  if (!window.Plotly) {
    picture.textContent =
      "There is no picture: the page has to load plotly.js above this place.";
    return;
  }

  // --- painting: the picture that fits, in the colours of the page, at the current step ---------

  // Pixels of a moment on the axis of a trace.
  function unitOf(layout, trace) {
    const { range, domain = [0, 1] } = layout[(trace.xaxis || "x").replace("x", "xaxis")];
    return (layout.width * (domain[1] - domain[0])) / (range[1] - range[0]);
  }

  // As mask.placed in Python: where a word stands at a step and what it says, null for as it was.
  function placed([since, x, until, centred, versions], step, unit) {
    if (since > step) return [null, null];
    if (until === undefined || until <= step + 1) return [x, versions ? versions[0][0] : null];
    const room = (step + Math.max(1 - edge / unit, 0.5) - since) * unit;
    const [text, wide] = versions.find((v) => v[1] + pad <= room) || versions[versions.length - 1];
    return [centred ? since + Math.max(room, wide + pad) / 2 / unit : x, text];
  }

  function moveWords(trace, step, unit) {
    const positions = trace.customdata.map((row) => placed(row, step, unit));
    trace.x = positions.map(([x]) => x);
    trace.text = trace.text.map((text, n) => positions[n][1] ?? text);
  }

  function atStep({ data, layout }, { steps, verdicts }) {
    const step = steps[current - first];
    if (!step) return;
    for (const [name, value] of Object.entries(step.mask)) {
      const [, number, part] = name.match(/^shapes\[(\d+)\]\.(\w+)$/);
      layout.shapes[number][part] = value;
    }
    for (const number of verdicts) data[number].visible = step.verdict;
    for (const trace of data) {
      if (trace.customdata) {
        moveWords(trace, step.verdict ? layout.meta.end : step.x, unitOf(layout, trace));
      }
    }
  }

  function paint() {
    if (!picture.isConnected) return null;
    const chosen = pictures[shown];
    const inDark = (all, color) => (dark[color] ? `"${dark[color]}"` : all);
    const isDark = dark !== null && night.matches;
    const drawing = JSON.parse(isDark ? chosen.text.replace(COLOR, inDark) : chosen.text);
    atStep(drawing, chosen);
    return Plotly.react(picture, drawing.data, drawing.layout, { displayModeBar: false });
  }

  const tell = () => picture.dispatchEvent(new Event("kiplab-drawn"));

  // One after the other: plotly drops calls while it draws.
  function repaint() {
    painted = painted.then(paint).then(tell);
  }

  // The names of the rows a second time: they stay where the picture is scrolled under them.
  function keepNames() {
    const { width, xaxis } = picture.layout;
    const end = (-xaxis.range[0] * width) / (xaxis.range[1] - xaxis.range[0]); // of their column
    const box = picture.getBoundingClientRect();
    const scale = box.width / width;
    const isName = (text) =>
      getComputedStyle(text).textAnchor === "end" &&
      (text.getBoundingClientRect().right - box.left) / scale <= end;
    const rowNames = [...picture.querySelectorAll("text")].filter(isName);
    const boxes = rowNames.map((text) => text.getBoundingClientRect());
    const ys = boxes.flatMap((r) => [r.top, r.bottom]);
    const [top, bottom] = [Math.min(...ys), Math.max(...ys)].map((y) => (y - box.top) / scale);
    const clones = rowNames.map((text) => {
      const { a, b, c, d, e, f } = text.parentNode.getCTM();
      return `<g transform="matrix(${[a, b, c, d, e, f]})">${text.outerHTML}</g>`;
    });
    names.innerHTML =
      `<svg width="${end}" height="${bottom}" style="transform: scale(${scale})">` +
      `<rect y="${top}" width="${end - 2}" height="${bottom - top}"` +
      ` fill="${picture.layout.paper_bgcolor}"/>${clones.join("")}</svg>`;
    names.hidden = frame.scrollLeft === 0;
  }

  // The widest picture that there is room for, or the narrowest, which is scrolled sideways.
  function fit() {
    const room = frame.clientWidth;
    if (!room) return;
    const fitting = pictures.findIndex(({ width }) => width <= room);
    const best = fitting < 0 ? pictures.length - 1 : fitting;
    const { width, height } = pictures[best];
    const scale = best === 0 ? 1 : Math.max(1, Math.min(GROWN_MAX, room / width));
    picture.style.width = `${width}px`;
    picture.style.height = `${height}px`;
    picture.style.transform = scale === 1 ? "" : `scale(${scale})`;
    picture.parentNode.style.width = `${Math.ceil(width * scale)}px`;
    picture.parentNode.style.height = `${Math.ceil(height * scale)}px`;
    if (best !== shown) {
      shown = best;
      repaint();
    }
  }

  // --- stepping ---------------------------------------------------------------------------------

  // The step that the address names, or else the one given: it may be about something else.
  function fromAddress(otherwise) {
    const parts = location.hash.slice(1).split("&");
    const mine = parts.find((part) => part.startsWith(key + "="));
    const value = mine ? mine.slice(key.length + 1) : "";
    return /^\d+$/.test(value) ? within(Number(value)) : otherwise;
  }

  // Replaced, not pushed: the way back out of the page does not lead through every step.
  function toAddress() {
    const parts = location.hash.slice(1).split("&");
    const others = parts.filter((part) => part && !part.startsWith(key + "="));
    const address = new URL(location.href);
    address.hash = [...others, `${key}=${current}`].join("&");
    history.replaceState(history.state, "", address);
  }

  function listen() {
    const slider = player.querySelector("input");
    const caption = player.querySelector("[aria-live]");
    const button = (name) => player.querySelector(`[data-do="${name}"]`);
    let timer = null;

    // From step to step the mask jumps: there is no motion that somebody could want reduced.
    function show(step) {
      const before = current;
      current = within(step);
      reached = Math.max(reached, current);
      slider.value = current;
      caption.textContent = `step ${current} of ${last}: ${labels[current - first]}`;
      if (current !== before) repaint();
    }

    function move(step) {
      show(step);
      toAddress();
    }

    function pause() {
      clearInterval(timer);
      timer = null;
      button("play").textContent = "Play";
    }

    function play() {
      if (current === last) move(first);
      button("play").textContent = "Pause";
      timer = setInterval(() => {
        move(current + 1);
        if (current === last) pause();
      }, PAUSE);
    }

    function byHand(step) {
      pause();
      move(step);
    }

    player.hidden = false;
    picture.kiplab.go = byHand;
    button("first").addEventListener("click", () => byHand(first));
    button("back").addEventListener("click", () => byHand(current - 1));
    button("step").addEventListener("click", () => byHand(current + 1));
    button("last").addEventListener("click", () => byHand(last));
    button("play").addEventListener("click", () => (timer === null ? play() : pause()));
    slider.addEventListener("input", () => byHand(Number(slider.value)));
    window.addEventListener("hashchange", () => {
      pause();
      show(fromAddress(current));
    });
    reached = first;
    show(fromAddress(initial));
  }

  // Plotly's own script has drawn the first picture; what it changes in it later is not wanted.
  function keep(original) {
    for (const each of pictures) {
      const drawing = each.drawing || original;
      drawing.data.forEach((trace, n) => (trace.text = trace.text || original.data[n].text));
      each.text = JSON.stringify(drawing);
      each.marks = drawing.layout.meta?.marks ?? [];
    }
  }

  // Another run takes the place of the one that is shown, and is shown as far as that was.
  function take(carried) {
    const wasLast = current === last;
    ({ pictures, labels, first } = carried);
    picture.kiplab.run += 1;
    last = first + labels.length - 1;
    keep(pictures[0].drawing);
    shown = Math.min(shown, pictures.length - 1);
    current = wasLast ? last : within(current);
    fit();
    repaint();
    if (player) Object.assign(player.querySelector("input"), { min: first, max: last });
    picture.kiplab.go(current);
  }

  keep({ data: picture.data, layout: picture.layout });
  // For what lies around the picture: where it stands, and a way to a step.
  picture.kiplab = {
    at: () => (player ? current : Infinity),
    reached: () => (player ? reached : Infinity),
    go: () => {},
    run: 0,
    take,
    drawn: () => ({ element: picture, ...pictures[shown] }),
  };
  if (dark !== null && night.matches) repaint();
  night.addEventListener("change", () => dark !== null && repaint());
  names.className = "kiplab-names";
  names.ariaHidden = "true";
  frame.prepend(names);
  frame.addEventListener("scroll", keepNames);
  new ResizeObserver(fit).observe(frame);
  fit();
  if (player) listen();
})
