"""`agentltl demo`: each task done twice by the same model, without rules and with them, and shown side by side."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from agentltl.cli.demo.tasks import TASKS, Task
from agentltl.cli.terminal import complain, console, progress
from agentltl.errors import AgentLTLError, ConstraintError
from agentltl.record.events import Event

if TYPE_CHECKING:
    from agentltl.cli.demo.run import Run
    from agentltl.cli.demo.source import Source

FINE, WRONG, FAILED = 0, 2, 3
"""The exit codes: as it should be; wrong usage, or something is missing; the model failed in a run."""


def demo(task: str | None, *, live: bool, model: str | None, as_json: bool, keep: str | None) -> int:
    """Run the demo, print it, and give the exit code."""
    try:
        tasks = _tasks(task)
        if live and model is not None:
            raise ConstraintError("`--live` is the embedded model, `--model` another one\nleave one of them out")
        with progress("loading the model"):
            source = _source(tasks, "local" if live else model)
        with _folder(keep) as folder:
            return _all(tasks, source, folder, as_json=as_json, kept=keep)
    except AgentLTLError as error:
        complain(str(error))
        return WRONG


def _all(tasks: Sequence[Task], source: Source, folder: Path, *, as_json: bool, kept: str | None) -> int:
    from agentltl.cli.demo.desk import RULES
    from agentltl.cli.demo.run import run_task
    from agentltl.cli.demo.screen import Screen
    from agentltl.constraints.rule_file import load_rules

    constraints = load_rules(RULES).constraints
    screen = None if as_json else Screen(console(piped_width=None), constraints, recorded=source.recorded)
    if screen:
        screen.opening(source.name, len(tasks))
    pairs: list[tuple[Run, Run]] = []
    for task in tasks:
        runs = []
        for guarded in (False, True):
            database = folder / f"{task.name}-{'guarded' if guarded else 'unguarded'}.sqlite"
            what = (
                f"{'replaying' if source.recorded else 'running'} {task.name}, {'with' if guarded else 'without'} rules"
            )
            with progress(what) as done, source.model(task, guarded) as model:
                run = run_task(task, model, database, constraints, _reporting(done), guarded=guarded)
            if run.result.ending == "error":
                complain(f"{what}: {run.result['error']}\n{source.advice}")
                return FAILED
            runs.append(run)
        pairs.append((runs[0], runs[1]))
        if screen:
            screen.task(*pairs[-1])
    if screen:
        screen.scores(pairs)
        screen.closing(_commands(tasks, source), _notes(RULES, kept))
    else:
        print(json.dumps({"runs": [run.to_json() for pair in pairs for run in pair]}, allow_nan=False))
    return FINE


def _tasks(name: str | None) -> list[Task]:
    if name is None:
        return list(TASKS.values())
    if name not in TASKS:
        near = get_close_matches(name, TASKS, 1)
        hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(f'`{known}`' for known in TASKS)}"
        raise ConstraintError(f"no task is called `{name}`\n{hint}")
    return [TASKS[name]]


def _source(tasks: Sequence[Task], model: str | None) -> Source:
    from agentltl.cli.demo.source import recordings, running

    return recordings(tasks) if model is None else running(model)


@contextmanager
def _folder(keep: str | None) -> Iterator[Path]:
    """The folder of the databases: the one that is named, else one that is removed at the end."""
    if keep is None:
        with TemporaryDirectory(prefix="agentltl-demo-") as made:
            yield Path(made)
        return
    folder = Path(keep)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConstraintError(f"`{keep}` cannot be made a folder: {error.strerror}\nname another one") from error
    yield folder


def _reporting(done: Callable[[str], None]) -> Callable[[Event], None]:
    """A sink that says what the model is at."""

    def told(event: Event) -> None:
        if event.kind == "step_start":
            done(f"step {event.data['step']}, the model thinks")
        elif event.kind == "tool_call_start":
            done(f"step {event.data['step']}, {event.data['tool_name']}")

    return told


def _commands(tasks: Sequence[Task], source: Source) -> dict[str, str]:
    """What to try next: the command, and what it does."""
    me = f"{_program()} demo"
    shown = {f"{me} {name}": f"only this task: {task.about}" for name, task in TASKS.items() if task not in tasks}
    one = next(iter(TASKS))
    commands = dict(list(shown.items())[:1]) if shown else {f"{me} {one}": "only this task"}
    if source.recorded:
        commands[f"{me} --live"] = "let the embedded model do it now (extra `local`)"
    commands[f"{me} --model openai/gpt-4o-mini"] = "ask another model; any name that litellm knows"
    commands[f"{me} --json"] = "every run as data: answer, metrics, score, changed rows"
    return commands


def _program() -> str:
    """How this program was called, as far as a shell would find it by that."""
    called = Path(sys.argv[0])
    if called.stem != "agentltl" or shutil.which("agentltl"):
        return "agentltl"
    try:
        return os.path.relpath(called)
    except ValueError:  # on another drive
        return str(called)


def _notes(rules: Path, kept: str | None) -> list[str]:
    try:
        shown = str(rules.relative_to(Path.cwd()))
    except ValueError:
        shown = str(rules)
    notes = [f"  the rules are in {shown}"]
    if kept is not None:
        notes.append(f"  the databases are in {kept}")
    return notes
