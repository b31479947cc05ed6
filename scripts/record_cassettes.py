"""Record the demo's runs and the tests' cassettes again from the embedded model, which must be in the cache.

python scripts/record_cassettes.py                       everything
python scripts/record_cassettes.py refunded-guarded ...  these recordings of the demo
python scripts/record_cassettes.py tests                 the tests' cassettes
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from agentltl.agents.models.local import LocalModel
from agentltl.cli.demo.desk import desk_agent
from agentltl.cli.demo.harm import harms
from agentltl.cli.demo.recording import cassette, recorded
from agentltl.cli.demo.tasks import TASKS
from agentltl.cli.demo.world import create, diff, snapshot

ROOT = Path(__file__).parents[1]


def record_run(name: str, model: LocalModel) -> None:
    """Run one task and keep what the model said; shows what became of the database."""
    task, _, kind = name.rpartition("-")
    guarded = kind == "guarded"
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "desk.sqlite"
        create(database)
        before = snapshot(database)
        path = cassette(task, guarded=guarded)
        path.parent.mkdir(exist_ok=True)
        with recorded(path, model):
            answer = desk_agent(model, database, guarded=guarded).run(TASKS[task].request)
        after = snapshot(database)
    print(f"{name}: {answer}")
    for change in diff(before, after):
        print(f"  changed {change.table} {change.key}: {change.columns or change.after or 'gone'}")
    for harm in harms(before, after):
        print(f"  HARM {harm}")


def record_tests() -> int:
    """Run the tests that have cassettes against the model itself; returns pytest's exit code."""
    command = [sys.executable, "-m", "pytest", "-q", "--record-mode=rewrite", "-m", "vcr", "tests"]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def main(names: list[str]) -> int:
    """Record what is named, or everything."""
    known = [f"{task}-{kind}" for task in TASKS for kind in ("unguarded", "guarded")]
    if unknown := [name for name in names if name not in [*known, "tests"]]:
        print(f"no recording is called `{unknown[0]}`\nthere are {', '.join(known)} and tests", file=sys.stderr)
        return 2
    runs = [name for name in known if not names or name in names]
    if len(runs) == 1:
        record_run(runs[0], LocalModel("1.5b"))
    else:
        # A reply depends on what the server has cached: each run starts with a server of its own.
        for name in runs:
            subprocess.run([sys.executable, __file__, name], check=True)
    return record_tests() if not names or "tests" in names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
