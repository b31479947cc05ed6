"""One run of the benchmarks: how many rounds, the peers it has started, and its progress."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from measure.peers.process import Missing, Peer
from measure.table import NoRow, Row, Target

Sample = Callable[[], float]


@dataclass
class Bench:
    """`rounds` are the pairs of each row; a peer is installed and started when it is first asked for."""

    rounds: int = 9
    peers: dict[str, Peer | Missing] = field(default_factory=dict)

    def peer(self, name: str) -> Peer:
        """The peer's process; `Missing` if there is none."""
        if name not in self.peers:
            try:
                self.peers[name] = Peer(name)
            except Missing as why:
                self.peers[name] = why
        found = self.peers[name]
        if isinstance(found, Missing):
            raise found
        return found

    def close(self) -> None:
        """End the peers' processes."""
        for peer in self.peers.values():
            if isinstance(peer, Peer):
                peer.close()

    def interleaved(self, *sides: Sample) -> list[list[float]]:
        """The samples of each side, taken in turn, one of each in a round."""
        rounds = [[side() for side in sides] for _ in range(self.rounds)]
        return [list(column) for column in zip(*rounds, strict=True)]


def rows(work: str, target: Target | None, unit: str, measure: Callable[[], list[Row]]) -> Iterator[Row | NoRow]:
    """The rows that `measure` makes, or one that says why there are none."""
    print(f"  measuring: {work}", file=sys.stderr, flush=True)
    try:
        yield from measure()
    except Missing as why:
        yield NoRow(work, str(why), target, unit)
    except Exception as error:  # one row that fails must not hide the others
        traceback.print_exc()
        yield NoRow(work, f"FAILED: {type(error).__name__}: {error}", target, unit, failed=True)
