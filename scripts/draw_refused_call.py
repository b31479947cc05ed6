"""Draw docs/refused-call.svg: a real model's call refused, from a recording of the demo, as a terminal shows it.

Drawn is the first of the demo's tasks in which the model does as it is told, or else the first with a refusal.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text
from smolagents.memory import ActionStep

from agentltl.cli.demo.desk import desk_agent
from agentltl.cli.demo.recording import cassette, replayed
from agentltl.cli.demo.tasks import TASKS, Task
from agentltl.cli.demo.world import create
from agentltl.errors import ConstraintViolationError

PICTURE = Path(__file__).parent.parent / "docs" / "refused-call.svg"
WIDTH = 96
SHOWN = 4
"""Steps that are drawn."""


@dataclass(frozen=True)
class Run:
    """A guarded run of a task: the model's messages, and the numbers of those with a refused call."""

    request: str
    steps: list[ActionStep]
    refused: set[int]

    @property
    def recovers(self) -> bool:
        """A tool that was refused at first has run in the end."""
        tools = {step.step_number: {call.name for call in step.tool_calls or []} for step in self.steps}
        first = min(self.refused, default=0)
        return any(
            tools[first] & names for number, names in tools.items() if number > first and number not in self.refused
        )


def replay(task: Task) -> Run:
    """Run a task with the rules, the model replayed."""
    with tempfile.TemporaryDirectory() as folder, replayed(cassette(task.name, guarded=True)) as model:
        database = Path(folder) / "desk.sqlite"
        create(database)
        agent: Any = desk_agent(model, database, guarded=True)
        with contextlib.suppress(ConstraintViolationError):
            agent.run(task.request)
    steps = [step for step in agent.memory.steps if isinstance(step, ActionStep)]
    return Run(task.request, steps, {v.step_number for v in agent.guard.violations if v.severity.value.refuses})


def drawn() -> str:
    """The picture, as SVG."""
    recorded = [task for task in TASKS.values() if cassette(task.name, guarded=True).exists()]
    runs = [run for task in recorded if (run := replay(task)).refused]
    if not runs:
        raise SystemExit("no call is refused in the demo's recordings\nrecord them again: make cassettes")
    run = next((run for run in runs if run.recovers), runs[0])
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.assemble(("user   ", "bold cyan"), run.request))
    for step in run.steps[:SHOWN]:
        console.print(_step(step, step.step_number in run.refused))
    svg = console.export_svg(title="agentltl", unique_id="refused-call")
    # A picture that asks no host for a font.
    return re.sub(r"\s*@font-face \{.*?\}(?=\n)|\s*<!-- .*? -->", "", svg, flags=re.DOTALL)


def _step(step: ActionStep, refused: bool) -> Group:
    """One message of the model with what came of it."""
    (call,) = step.tool_calls or []
    arguments = ", ".join(f"{name} = {value!r}" for name, value in dict(call.arguments).items())
    line = Text.assemble(("model  ", "bold magenta"), (call.name, "bold"), f"({arguments})")
    line.truncate(WIDTH - 2, overflow="ellipsis")
    if call.name == "final_answer" and not refused:
        return Group(line)
    observed = Text((step.observations or "").strip())
    if not refused:
        observed.truncate(WIDTH - 9, overflow="ellipsis")
        return Group(line, Padding(observed, (0, 0, 0, 7), style="green"))
    observed.highlight_regex(r"(?m)^(Refused|Rule|Reason|Do instead)", "bold")
    return Group(line, Padding(Panel(observed, border_style="red"), (0, 0, 0, 7)))


def main(arguments: list[str]) -> int:
    """Write the picture; with `--check` change nothing and give 1 if it is out of date."""
    picture = drawn()
    if arguments == ["--check"]:
        current = PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == picture
        if not current:
            print("`docs/refused-call.svg` is out of date\ndraw it anew: python scripts/draw_refused_call.py")
        return 0 if current else 1
    PICTURE.write_text(picture, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
