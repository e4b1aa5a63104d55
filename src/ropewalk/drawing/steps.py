"""A page that plays the decoder: labels from left to right, the stack, and each arc as its bracket closes."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

from ropewalk.drawing.html import colours, page
from ropewalk.drawing.measure import clean, is_right_to_left
from ropewalk.drawing.scene import Arc, Row, Scene
from ropewalk.drawing.svg import to_svg
from ropewalk.encodings import FAULTS
from ropewalk.encodings.text import EMPTY
from ropewalk.errors import MismatchError
from ropewalk.kernels.codes import INDEX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.drawing.scene import Kind
    from ropewalk.drawing.svg import Theme
    from ropewalk.drawing.trace import Made, Open, Step, Trace

FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"

STYLE = """
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:80rem;background:var(--paper);color:var(--ink);line-height:1.5;
font-family:system-ui,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif}
h1{font-size:1.25rem;margin:0 0 .25rem}
.about{color:var(--faint);margin:0 0 1rem}
.scroll{overflow-x:auto;border:1px solid color-mix(in srgb,var(--faint) 35%,transparent);border-radius:.5rem}
.scroll svg{display:block;margin:0 auto}
svg.ropewalk .arc{opacity:0;transition:opacity .2s}
svg.ropewalk .arc.seen{opacity:1}
svg.ropewalk .arc.new .line{stroke-width:3.5px}
svg.ropewalk .bracket{opacity:.4}
svg.ropewalk .bracket.read{opacity:1}
svg.ropewalk .bracket.now{opacity:1;font-weight:bold;fill:var(--repaired);text-decoration:underline}
svg.ropewalk .bracket.broken{opacity:1;font-weight:bold;fill:var(--wrong);text-decoration:underline wavy}
svg.ropewalk .word.now{font-weight:bold}
.panel{display:grid;gap:.75rem;margin-top:1rem}
#message{margin:0;min-height:3.2em;padding:.6rem .8rem;border-left:4px solid var(--repaired);
background:color-mix(in srgb,var(--repaired) 9%,transparent);border-radius:0 .4rem .4rem 0}
#message.broken{border-color:var(--wrong);background:color-mix(in srgb,var(--wrong) 11%,transparent)}
.controls{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}
button{font:inherit;min-width:2.9rem;min-height:2.75rem;padding:0 .7rem;border-radius:.5rem;cursor:pointer;
color:var(--ink);background:transparent;border:1px solid var(--faint)}
button:hover:not(:disabled){background:color-mix(in srgb,var(--faint) 18%,transparent)}
button:disabled{opacity:.4;cursor:default}
button:focus-visible,input:focus-visible{outline:3px solid var(--repaired);outline-offset:2px}
input[type=range]{flex:1 1 10rem;min-height:2.75rem;accent-color:var(--repaired)}
output{min-width:6.5em;text-align:right;font-variant-numeric:tabular-nums;color:var(--faint)}
h2{font-size:1rem;margin:0}
#stack{display:flex;flex-wrap:wrap;gap:.4rem;list-style:none;margin:.35rem 0 0;padding:0;min-height:3.9rem}
#stack li{padding:.3rem .6rem;border:1px solid var(--faint);border-radius:.4rem;text-align:center;
font:1.05rem ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}
#stack li small{display:block;color:var(--faint);font:.75rem system-ui,sans-serif}
#stack li.semi{border-style:dashed}
#stack li.new{border-color:var(--repaired);border-width:2px}
details{margin-top:.5rem}
details li{margin:.15rem 0}
details li.broken{color:var(--wrong)}
@media (max-width:34rem){input[type=range]{order:1;flex-basis:100%}output{margin-left:auto;min-width:0}}
kbd{border:1px solid var(--faint);border-radius:.25rem;padding:0 .3em;font-size:.85em}
"""

SCRIPT = """
"use strict";
const steps = JSON.parse(document.getElementById("steps").textContent);
const find = id => document.getElementById(id);
const arcs = {}, brackets = {}, words = {};
document.querySelectorAll("svg.ropewalk g.arc").forEach(g => {
  const kind = [...g.classList].find(name => name !== "arc");
  const key = kind + ":" + g.dataset.head + ":" + g.dataset.dependent;
  (arcs[key] = arcs[key] || []).push(g);
});
document.querySelectorAll("svg.ropewalk text.steps").forEach(text => {
  brackets[text.dataset.word] = [...text.querySelectorAll(".bracket")];
});
document.querySelectorAll("svg.ropewalk text.word").forEach(text => { words[text.dataset.node] = text; });
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
  const stack = find("stack");
  stack.replaceChildren(...step.stack.map(([text, name, semi, fresh]) => {
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
  timer = on ? setInterval(() => go(at + 1), 900) : null;
  find("play").textContent = on ? "Pause" : "Play";
  find("play").setAttribute("aria-pressed", String(on));
}
find("first").onclick = () => go(0);
find("back").onclick = () => go(at - 1);
find("next").onclick = () => go(at + 1);
find("last").onclick = () => go(steps.length - 1);
find("play").onclick = () => { const on = timer === null; if (on && at === steps.length - 1) go(0); play(on); };
find("slider").oninput = event => go(+event.target.value);
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const keys = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: steps.length - 1};
  if (event.key in keys) { event.preventDefault(); go(keys[event.key]); }
  else if (event.key === " " && event.target.tagName !== "BUTTON" && event.target.tagName !== "SUMMARY") {
    event.preventDefault();
    find("play").click();
  }
});
draw();
"""

CONTROLS = """<div class="controls" role="group" aria-label="Steps">
<button id="first" aria-label="First step">⏮</button>
<button id="back" aria-label="Previous step">◀</button>
<button id="play" aria-pressed="false">Play</button>
<button id="next" aria-label="Next step">▶</button>
<button id="last" aria-label="Last step">⏭</button>
<input id="slider" type="range" min="0" max="{last}" value="0" aria-label="Step">
<output id="count" for="slider"></output>
</div>
"""


def to_steps(trace: Trace, *, words: Sequence[str] | None = None, title: str = "", theme: Theme = "auto") -> str:
    """Write the page: works without a server, fetches nothing, and moves by buttons and by arrow keys."""
    if words is not None and len(words) != len(trace.labels):
        raise MismatchError(f"{len(words)} words for {len(trace.labels)} labels; give one word for each label")
    given = words if words is not None else [str(number) for number in range(1, len(trace.labels) + 1)]
    forms = tuple(map(clean, given))
    told = [_told(trace, forms, number) for number in range(len(trace.steps))]
    last = len(told) - 1
    # `<` could end the script element
    data = json.dumps(told, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    heading = escape(clean(title) or " ".join(forms))
    listed = "".join(
        f"<li{' class=broken' if step['broken'] else ''}>{escape(str(step['message']))}</li>" for step in told
    )
    body = (
        f"<h1{' dir=rtl' if is_right_to_left(forms) else ''}>{heading}</h1>\n"
        f'<p class="about">Labels of <b>{escape(trace.encoding)}</b>, read step by step: '
        "<kbd>←</kbd> <kbd>→</kbd> move, <kbd>Space</kbd> plays.</p>\n"
        f'<div class="scroll" id="scroll">{to_svg(_scene(trace, forms, title), theme=theme)}</div>\n'
        f'<div class="panel">{CONTROLS.format(last=last)}'
        '<p id="message" role="status" aria-live="polite"></p>\n'
        '<section aria-label="Stack"><h2>Stack, its top on the right</h2><ol id="stack"></ol></section>\n'
        f'<details><summary>All steps</summary><ol start="0">{listed}</ol></details></div>\n'
        f'<script type="application/json" id="steps">{data}</script>\n<script>{SCRIPT}</script>\n'
    )
    return page(clean(title) or "Steps", STYLE + colours(theme), body)


def _scene(trace: Trace, forms: tuple[str, ...], title: str) -> Scene:
    drawn: dict[tuple[str, int, int], Arc] = {}
    for step in trace.steps:
        for arc in step.arcs:
            if arc.head != arc.dependent:
                kind = _kind(step, arc)
                drawn.setdefault((kind, arc.head, arc.dependent), Arc(arc.head, arc.dependent, "", kind))
    spelled = [_sign("".join(signs), naive=trace.naive) for signs in trace.spelled]
    same = [text or EMPTY for text in spelled] == list(trace.labels)
    rows = [] if same else [Row("label", ("", *trace.labels), "label")]
    rows.append(Row("brackets", ("", *spelled), "steps"))
    return Scene(forms, tuple(drawn.values()), tuple(rows), True, is_right_to_left(forms), clean(title))  # noqa: FBT003 - fields of a value


def _kind(step: Step, arc: Made) -> Kind:
    if arc.fault:
        return "refused"
    return "repaired" if step.kind == "repair" else "structural" if arc.structural else "auxiliary"


def _told(trace: Trace, forms: tuple[str, ...], number: int) -> dict[str, object]:
    """Say what a step does, for people and for the script."""
    step = trace.steps[number]
    before = trace.steps[number - 1].stack if number else ()
    hidden = []
    if step.removed is not None:
        hidden = [f"{kind}:{step.removed[0]}:{step.removed[1]}" for kind in ("structural", "auxiliary")]
    naive = trace.naive
    return {
        "kind": step.kind,
        "word": step.word,
        "bracket": step.bracket,
        "message": _message(step, before, forms, naive=naive),
        "broken": bool(step.faults),
        "show": [f"{_kind(step, arc)}:{arc.head}:{arc.dependent}" for arc in step.arcs if arc.head != arc.dependent],
        "hide": hidden,
        "stack": [
            [_sign(entry.text, naive=naive), _name(entry.node, forms), "^" not in entry.text, fresh]
            for entry, fresh in zip(step.stack, _fresh(step), strict=True)
        ],
    }


def _fresh(step: Step) -> list[bool]:
    top = len(step.stack) - 1
    return [step.kind == "open" and place == top for place in range(len(step.stack))]


def _sign(text: str, *, naive: bool) -> str:
    return text.replace("^", "") if naive else text


def _name(node: int, forms: tuple[str, ...]) -> str:
    if not node:
        return "node 0"
    form = forms[node - 1]
    if is_right_to_left((form,)):
        form = f"{FIRST_STRONG_ISOLATE}{form}{POP_ISOLATE}"  # or it would turn the rest of the message round
    return form if form == str(node) else f"{node} {form}"


def _message(step: Step, before: tuple[Open, ...], forms: tuple[str, ...], *, naive: bool) -> str:
    word = _name(step.word, forms)
    sign = _sign(step.symbol, naive=naive)
    if step.kind == "start":
        return f"The opening bracket {_sign('/^', naive=naive)} of node 0 lies on the stack; no label holds it."
    if step.kind == "open":
        what = "head" if sign.startswith("<") else "dependent"
        return f"{word}: {sign} waits on the stack for a {what} further on."
    if step.kind == "end":
        missing = "; ".join(f"{_name(node, forms)}: {FAULTS[code]}" for node, code in step.faults)
        sound = "every bracket found its match, and every word has a head"
        return f"All labels are read. What is missing: {missing}." if missing else f"All labels are read, {sound}."
    if step.kind == "repair":
        head = _name(step.arcs[0].head, forms)
        why = "has no head" if step.removed is None else "would be a second root"
        return f"Repair: {word} {why} and is hung on {head}."
    return _closing(step, before, forms, f"{word}: {sign}", naive=naive)


def _closing(step: Step, before: tuple[Open, ...], forms: tuple[str, ...], lead: str, *, naive: bool) -> str:
    fired = list(step.arcs)
    if step.match < 0:
        out = [f"{lead} finds nothing to match on the stack and is left out."]
    else:
        match = before[step.match]
        *fired, own = step.arcs
        out = [f"{lead} matches {_sign(match.text, naive=naive)} of {_name(match.node, forms)}: {_arc(own, forms)}."]
    if fired:
        out.append(f"On its way it fires the semibrackets above: {', '.join(_arc(arc, forms) for arc in fired)}.")
    if any(before[place].symbol // INDEX for place in step.passed):
        out.append("Semibrackets with an index stay, and their index is lowered by one.")
    return " ".join(out)


def _arc(arc: Made, forms: tuple[str, ...]) -> str:
    said = f"{_name(arc.head, forms)} → {_name(arc.dependent, forms)}"
    return f"{said} (refused: {FAULTS[arc.fault]})" if arc.fault else said
