"""An HTML page that shows step by step how labels are decoded: the stack, and the arcs that each bracket makes."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk import files
from ropewalk.drawing.html import colours, page
from ropewalk.drawing.measure import is_right_to_left
from ropewalk.drawing.scene import Arc, Row, Scene
from ropewalk.drawing.svg import to_svg
from ropewalk.encodings import FAULTS
from ropewalk.encodings.bracket_text import EMPTY
from ropewalk.errors import MismatchError
from ropewalk.kernels.codes import INDEX
from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.drawing.scene import Kind
    from ropewalk.drawing.svg import Theme
    from ropewalk.drawing.trace import Made, Open, Step, Trace

FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"

PAGE = """
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:80rem;background:var(--paper);color:var(--ink);line-height:1.5;
font-family:system-ui,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif}
h1{font-size:1.25rem;margin:0 0 .25rem}
.about{color:var(--faint);margin:0 0 1rem}
kbd{border:1px solid var(--faint);border-radius:.25rem;padding:0 .3em;font-size:.85em}
"""


def _static(name: str) -> str:
    with files.reading(Path(__file__).with_name("static") / name) as file:
        return "\n" + file.read().decode("utf-8")


# The style sheet and the script of an element with the class `steps`, for this page and for others with such elements.
STYLE, PLAYER = _static("steps.css"), _static("steps.js")
SCRIPT = """const player = playSteps(document.querySelector(".steps"), document,
  JSON.parse(document.getElementById("steps").textContent));
"""

CONTROLS = """<div class="controls" role="group" aria-label="Steps">
<button type="button" class="first" aria-label="First step">{first}</button>
<button type="button" class="back" aria-label="Previous step">{back}</button>
<button type="button" class="play" aria-pressed="false">Play</button>
<button type="button" class="next" aria-label="Next step">{next}</button>
<button type="button" class="last" aria-label="Last step">{last}</button>
<input class="slider" type="range" min="0" max="{most}" value="0" aria-label="Step">
<output class="count"></output>
</div>
"""
# These are drawn, because few fonts have characters for them.
ICONS = {
    "first": "M2 3h2.2v10H2zM14 3v10L5.5 8z",
    "back": "M12 3v10L3.5 8z",
    "next": "M4 3v10l8.5-5z",
    "last": "M11.8 3H14v10h-2.2zM2 3v10l8.5-5z",
}


def to_steps(trace: Trace, *, words: Sequence[str] | None = None, title: str = "", theme: Theme = "auto") -> str:
    """Return an HTML page that plays the steps of `trace`.

    Readers move with buttons and arrow keys. The page needs no server and loads no other files.
    """
    forms = _forms(trace, words)
    steps = describe(trace, words)
    # `<` could end the script element
    data = json.dumps(steps, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    heading = escape(clean(title) or " ".join(forms))
    body = (
        f"<h1{' dir=rtl' if is_right_to_left(forms) else ''}>{heading}</h1>\n"
        f'<p class="about">Labels of <b>{escape(trace.encoding)}</b>, read step by step: '
        "<kbd>←</kbd> <kbd>→</kbd> move, <kbd>Space</kbd> plays.</p>\n"
        f'<div class="steps">{panel(trace, words=words, title=title, theme=theme)}</div>\n'
        f'<script type="application/json" id="steps">{data}</script>\n<script>{PLAYER}{SCRIPT}</script>\n'
    )
    return page(clean(title) or "Steps", PAGE + STYLE + colours(theme), body)


def panel(
    trace: Trace, *, words: Sequence[str] | None = None, title: str = "", theme: Theme = "auto", heading: int = 2
) -> str:
    """Return the HTML inside an element of the class `steps`: the picture, buttons, the stack and a list of all steps.

    The function `playSteps` of the script `PLAYER` plays the steps that `describe` returns. `heading` is the level of
    the HTML heading above the stack.
    """
    steps = describe(trace, words)
    icons = {
        name: f'<svg viewBox="0 0 16 16" aria-hidden="true"><path d="{path}"/></svg>' for name, path in ICONS.items()
    }
    listed = "".join(
        f"<li{' class=broken' if step['broken'] else ''}>{escape(str(step['message']))}</li>" for step in steps
    )
    return (
        f'<div class="scroll">{to_svg(_scene(trace, _forms(trace, words), title), theme=theme)}</div>\n'
        f'<div class="panel">{CONTROLS.format(most=len(steps) - 1, **icons)}'
        '<p class="message" role="status" aria-live="polite"></p>\n'
        f'<div role="group" aria-label="Stack"><h{heading}>Stack, its top on the right</h{heading}>'
        '<ol class="stack"></ol></div>\n'
        f'<details><summary>All steps</summary><ol start="0">{listed}</ol></details></div>\n'
    )


def describe(trace: Trace, words: Sequence[str] | None = None) -> list[dict[str, object]]:
    """Return a dictionary for each step: a message for readers, and the arcs and the stack that `PLAYER` shows."""
    forms = _forms(trace, words)
    return [_described(trace, forms, number) for number in range(len(trace.steps))]


def _forms(trace: Trace, words: Sequence[str] | None) -> tuple[str, ...]:
    if words is not None and len(words) != len(trace.labels):
        raise MismatchError(f"{len(words)} words for {len(trace.labels)} labels; pass one word for each label")
    return tuple(map(clean, words if words is not None else map(str, range(1, len(trace.labels) + 1))))


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


def _described(trace: Trace, forms: tuple[str, ...], number: int) -> dict[str, object]:
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
    return [step.kind == "open" and index == top for index in range(len(step.stack))]


def _sign(text: str, *, naive: bool) -> str:
    return text.replace("^", "") if naive else text


def _name(node: int, forms: tuple[str, ...]) -> str:
    if not node:
        return "node 0"
    form = forms[node - 1]
    if is_right_to_left((form,)):
        form = f"{FIRST_STRONG_ISOLATE}{form}{POP_ISOLATE}"  # otherwise it would reverse the rest of the message
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
    if any(before[index].symbol // INDEX for index in step.passed):
        out.append("Semibrackets with an index stay, and their index is lowered by one.")
    return " ".join(out)


def _arc(arc: Made, forms: tuple[str, ...]) -> str:
    ends = f"{_name(arc.head, forms)} → {_name(arc.dependent, forms)}"
    return f"{ends} (refused: {FAULTS[arc.fault]})" if arc.fault else ends
