"""litellm, imported when it is first used and told to keep to itself.

Its import takes seconds and by default fetches a price list, so the settings come before the import.
"""

import os
import warnings
from types import ModuleType

from agentltl.agents.models.quiet_logs import hide_in_logs


def load_litellm() -> ModuleType:
    """litellm with its price list local, its telemetry off, its advertisements not printed and no key in its logs."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    # How litellm uses pydantic makes pydantic warn during requests, and no user of ours can mend that.
    warnings.filterwarnings("ignore", message=".*using the `ReadOnly` qualifier", category=UserWarning)
    warnings.filterwarnings("ignore", message=".*'model_(computed_)?fields' attribute", category=DeprecationWarning)
    import litellm

    hide_in_logs()
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    return litellm


class LiteLLMClient:
    """What a model calls; it holds nothing, so a model can be copied (a module could not)."""

    def completion(self, **request: object) -> object:
        """One request, once: no retries of litellm's nor of the provider's client."""
        return load_litellm().completion(**request, num_retries=0, max_retries=0)
