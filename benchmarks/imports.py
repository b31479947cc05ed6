"""How long the imports take that every user pays for, beside a bare start of Python.

Each line is a fresh process; the rounds are interleaved, so a busy moment of the machine hits all of them alike.
"""

import statistics
import subprocess
import sys
import time

ROUNDS = 15
STATEMENTS = ("pass", "import json", "import agentltl.constraints", "import agentltl")


def start(statement: str) -> float:
    """The seconds a new interpreter takes to run `statement` and end."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - began


def main() -> None:
    for statement in STATEMENTS:
        start(statement)  # writes the bytecode
    rounds = [[start(statement) for statement in STATEMENTS] for _ in range(ROUNDS)]
    medians = [statistics.median(column) for column in zip(*rounds, strict=True)]
    bare = medians[0]
    print(f"{'':28} {'whole':>9} {'import':>9} {'ratio':>6}   median of {ROUNDS} starts")
    for statement, median in zip(STATEMENTS, medians, strict=True):
        print(f"{statement:28} {median * 1e3:6.1f} ms {(median - bare) * 1e3:6.1f} ms {median / bare:6.2f}")


if __name__ == "__main__":
    main()
