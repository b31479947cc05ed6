"""What small models get done at the demo's order desk: under rules with repair feedback or plain refusals, and without.

Replays the recordings; with `--record` the models themselves do it again, which takes their files and about half an
hour.

python benchmarks/completion.py
python benchmarks/completion.py --json --model 1.5b --condition repair --task shipped
python benchmarks/completion.py --record
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from desk.conditions import CONDITIONS, Condition
from desk.runs import MODELS, Score, record, replay
from desk.table import show
from desk.tasks import JOBS

from agentltl.agents.models.local import LocalModel
from agentltl.cli.terminal import complain, console
from agentltl.errors import AgentLTLError


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 1 when a forbidden call has run under a guard, 2 when a recording fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--condition", nargs="+", choices=list(CONDITIONS), default=list(CONDITIONS))
    parser.add_argument("--task", nargs="+", choices=list(JOBS), default=list(JOBS))
    parser.add_argument("--json", action="store_true", help="every run as data")
    parser.add_argument("--record", action="store_true", help="run the models and record them again")
    options = parser.parse_args(arguments)
    scores = []
    try:
        for score in runs(options.model, options.condition, options.task, again=options.record):
            scores.append(score)
            if options.record:
                print(told(score), file=sys.stderr, flush=True)
    except AgentLTLError as error:
        complain(str(error))
        return 2
    if options.json:
        print(json.dumps([score.to_json() for score in scores], ensure_ascii=False, indent=1))
    else:
        show(scores, console())
    return int(any(score.forbidden for score in scores if score.condition != "none"))


def runs(
    models: Sequence[str], conditions: Sequence[Condition], tasks: Sequence[str], *, again: bool
) -> Iterator[Score]:
    """Every run that is asked for, one after another."""
    for name in models:
        model = LocalModel(name)
        for condition in conditions:
            for task in tasks:
                yield record(model, condition, task) if again else replay(name, condition, task)


def told(score: Score) -> str:
    """A run in one line."""
    what = "done" if score.done else f"not done, {score.ending}: {'; '.join(score.missed)}"
    ran = f"; forbidden: {', '.join(score.forbidden)}" if score.forbidden else ""
    return f"{score.model} {score.condition} {score.task}: {what}{ran} ({score.steps} steps)"


if __name__ == "__main__":
    sys.exit(main())
