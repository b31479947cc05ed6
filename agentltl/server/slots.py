"""How many runs there may be at once: each needs a slot, from the arrival of its message to its end."""

from __future__ import annotations


class Slot:
    """The place of one run. It is `taken` when a run has it, which then gives it back."""

    def __init__(self, slots: Slots) -> None:
        self._slots: Slots | None = slots
        self.taken = False

    @property
    def released(self) -> bool:
        """Whether it has been given back."""
        return self._slots is None

    @property
    def unused(self) -> bool:
        """Whether it has been given back and no run has had it: its message came to nothing."""
        return self.released and not self.taken

    def release(self) -> None:
        """Give it back; a second time does nothing."""
        if self._slots is not None:
            self._slots.free += 1
            self._slots = None


class Slots:
    """`most` slots. All of it happens in the event loop of the server, so nothing is locked."""

    def __init__(self, most: int) -> None:
        self.most = self.free = most

    def reserve(self) -> Slot | None:
        """A slot for a message that has come in, None when there is none."""
        if not self.free:
            return None
        self.free -= 1
        return Slot(self)

    def take(self, reserved: Slot | None) -> Slot | None:
        """The slot for a run that begins: the one reserved for its message, or another if that has been given back."""
        slot = reserved if reserved is not None and not reserved.released else self.reserve()
        if slot is not None:
            slot.taken = True
        return slot
