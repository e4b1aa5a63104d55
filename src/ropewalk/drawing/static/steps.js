"use strict";
function playSteps(root, keys, steps) {
  const find = name => root.querySelector("." + name);
  const arcs = {}, brackets = {}, words = {};
  root.querySelectorAll("svg.ropewalk g.arc").forEach(g => {
    const kind = [...g.classList].find(name => name !== "arc");
    const key = kind + ":" + g.dataset.head + ":" + g.dataset.dependent;
    (arcs[key] = arcs[key] || []).push(g);
  });
  root.querySelectorAll("svg.ropewalk text.steps").forEach(text => {
    brackets[text.dataset.word] = [...text.querySelectorAll(".bracket")];
  });
  root.querySelectorAll("svg.ropewalk text.word").forEach(text => { words[text.dataset.node] = text; });
  let at = 0, timer = null;
  function draw() {
    const seen = new Set();
    for (const step of steps.slice(0, at + 1)) {
      step.show.forEach(key => seen.add(key));
      step.hide.forEach(key => seen.delete(key));
    }
    const step = steps[at];
    for (const [key, groups] of Object.entries(arcs)) groups.forEach(g => {
      g.classList.toggle("seen", seen.has(key));
      g.classList.toggle("new", step.show.includes(key));
    });
    for (const [word, spans] of Object.entries(brackets)) spans.forEach((span, place) => {
      const here = step.word === +word && step.bracket === place && (step.kind === "open" || step.kind === "close");
      const read = step.kind === "end" || step.kind === "repair" || +word < step.word
        || (+word === step.word && place < step.bracket);
      span.setAttribute("class", "bracket" + (here ? (step.broken ? " broken" : " now") : read ? " read" : ""));
    });
    for (const [word, text] of Object.entries(words)) text.classList.toggle("now", +word === step.word);
    find("stack").replaceChildren(...step.stack.map(([text, name, semi, fresh]) => {
      const li = document.createElement("li"), small = document.createElement("small");
      li.textContent = text;
      small.textContent = name;
      li.append(small);
      li.classList.toggle("semi", semi);
      li.classList.toggle("new", fresh);
      return li;
    }));
    find("message").textContent = step.message;
    find("message").classList.toggle("broken", step.broken);
    find("slider").value = at;
    find("slider").setAttribute("aria-valuetext", "step " + at + " of " + (steps.length - 1));
    find("count").textContent = at + " / " + (steps.length - 1);
    find("first").disabled = find("back").disabled = at === 0;
    find("next").disabled = find("last").disabled = at === steps.length - 1;
    const word = words[step.word], box = find("scroll");
    if (word) {
      const place = word.getBoundingClientRect(), frame = box.getBoundingClientRect();
      if (place.left < frame.left + 24 || place.right > frame.right - 24)
        box.scrollLeft += place.left + place.width / 2 - frame.left - frame.width / 2;
    }
  }
  function go(step) {
    at = Math.max(0, Math.min(steps.length - 1, step));
    if (at === steps.length - 1) play(false);
    draw();
  }
  function play(on) {
    clearInterval(timer);
    timer = on ? setInterval(() => root.isConnected ? go(at + 1) : play(false), 900) : null;
    find("play").textContent = on ? "Pause" : "Play";
    find("play").setAttribute("aria-pressed", String(on));
  }
  find("first").onclick = () => go(0);
  find("back").onclick = () => go(at - 1);
  find("next").onclick = () => go(at + 1);
  find("last").onclick = () => go(steps.length - 1);
  find("play").onclick = () => { const on = timer === null; if (on && at === steps.length - 1) go(0); play(on); };
  find("slider").oninput = event => go(+event.target.value);
  keys.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const places = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: steps.length - 1};
    if (event.key in places) { event.preventDefault(); go(places[event.key]); }
    else if (event.key === " " && event.target.tagName !== "BUTTON" && event.target.tagName !== "SUMMARY") {
      event.preventDefault();
      find("play").click();
    }
  });
  draw();
  return {at: () => at, playing: () => timer !== null};
}
