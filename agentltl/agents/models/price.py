"""The two parts of a cost that litellm reckons: for what was read, and for what was written.

litellm puts the sum on a response; the parts come from the same price list, which ships with it.
"""

from __future__ import annotations

import math
from dataclasses import replace

from agentltl.agents.models.litellm_client import load_litellm
from agentltl.agents.models.report import ModelReport


def with_parts(report: ModelReport, model: str | None, usage: object) -> ModelReport:
    """The report with the parts of its cost, where litellm's prices give the same sum; else as it is."""
    total = report.total_cost_usd
    if total is None or report.input_cost_usd is not None or report.output_cost_usd is not None:
        return report
    try:
        read, written = load_litellm().cost_per_token(model=model, usage_object=usage)
    except Exception:  # litellm raises whatever it comes upon for a model that it has no price of
        return report
    if not math.isclose(read + written, total):
        return report
    return replace(report, input_cost_usd=read, output_cost_usd=written)
