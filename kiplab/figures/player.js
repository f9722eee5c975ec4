// A function of the fragment's id and of its key in the address; page.py calls it in place.
(function (id, key) {
  "use strict";
  const PAUSE = 1200; // milliseconds that Play stays at a step
  const EDGE = 80; // pixels kept free around the cursor where the picture has to be scrolled
  const player = document.getElementById(id + "-player");
  const picture = document.getElementById(id + "-plot");
  const { steps, initial, verdicts, first } = JSON.parse(
    document.getElementById(id + "-steps").textContent
  );
  const slider = player.querySelector("input");
  const said = player.querySelector("[aria-live]");
  const button = (name) => player.querySelector(`[data-do="${name}"]`);
  const last = first + steps.length - 1;
  const held = (step) => Math.max(first, Math.min(step, last));
  let current = initial;
  let timer = null;

  // The step that the address names, or else the one given: it may be about something else.
  function fromAddress(otherwise) {
    const parts = location.hash.slice(1).split("&");
    const mine = parts.find((part) => part.startsWith(key + "="));
    const value = mine ? mine.slice(key.length + 1) : "";
    return /^\d+$/.test(value) ? held(Number(value)) : otherwise;
  }

  // Replaced, not pushed: the way back out of the page does not lead through every step.
  function toAddress() {
    const parts = location.hash.slice(1).split("&");
    const others = parts.filter((part) => part && !part.startsWith(key + "="));
    const address = new URL(location.href);
    address.hash = [...others, `${key}=${current}`].join("&");
    history.replaceState(history.state, "", address);
  }

  function tell() {
    slider.value = current;
    said.textContent = `step ${current} of ${last}: ${steps[current - first].label}`;
  }

  // From step to step the veil jumps: there is no motion that somebody could want reduced.
  function draw(before) {
    const { veil, verdict, at } = steps[current - first];
    Plotly.relayout(picture, veil);
    if (verdict !== steps[before - first].verdict) Plotly.restyle(picture, { visible: verdict }, verdicts);
    const sheet = picture.closest(".kiplab-scroll");
    const left = at - sheet.scrollLeft;
    if (left < EDGE || left > sheet.clientWidth - EDGE) {
      sheet.scrollLeft = at - sheet.clientWidth / 2;
    }
  }

  function show(step) {
    const before = current;
    current = held(step);
    tell();
    if (current !== before) draw(before);
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
  if (!window.Plotly) {
    player.textContent = "There is no picture: the page has to load plotly.js above this place.";
    return;
  }
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
  show(fromAddress(initial));
})
