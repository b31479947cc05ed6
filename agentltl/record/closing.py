"""What is used in a `with` block that closes it."""

from __future__ import annotations

from typing import Self


class Closing:
    """Whoever has it closes it, by `close` or at the end of a `with` block."""

    def close(self) -> None:
        """End what goes on. A second time does nothing."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
