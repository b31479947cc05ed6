"""The wrappers as an agent puts them together."""

from __future__ import annotations

from collections.abc import Iterable

from smolagents.models import Model

from agentltl.agents.limits import require_positive
from agentltl.agents.models.breaker import Breaker
from agentltl.agents.models.fallback import Fallback
from agentltl.agents.models.retry import Retry
from agentltl.agents.models.timeout import Timeout
from agentltl.agents.models.wrapper import Wrapper


def reliable(
    model: Model, *, fallback_models: Iterable[Model] = (), retries: int = 3, timeout: float | None = None
) -> Model:
    """A model that retries, behind a circuit breaker; then the next one of `fallback_models`, each in the same way.

    Each call may take `timeout` seconds. A model that is a wrapper already is taken as it is, so `retries` is not for
    it; a time limit and fallbacks are put around it. A setting that makes no sense is a `ConstraintError`.
    """
    require_positive("timeout", timeout)
    chain = [hardened(one, retries) for one in (model, *fallback_models)]
    made = chain[0] if len(chain) == 1 else Fallback(chain)
    return made if timeout is None else Timeout(made, timeout)


def hardened(model: Model, retries: int) -> Model:
    """The model with retries, behind a circuit breaker, unless it is a wrapper."""
    return model if isinstance(model, Wrapper) else Breaker(Retry(model, retries))
