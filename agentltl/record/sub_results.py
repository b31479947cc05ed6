"""What a fan-out over requirements gives back: the documented dict itself, and its sums.

Every total is the sum of what the children's own results say, in the order of the requirements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from agentltl.constraints.value import Json
from agentltl.record.plain import plain
from agentltl.record.result import Result
from agentltl.record.usage import Usage

_TOTALS = ("input_tokens", "output_tokens", "total_tokens", "num_steps", "num_tool_calls")


class SubResult(Result):
    """The `Result` of the sub-agent that did one requirement.

    The dict has three keys more: `requirement_id`, `requirement_description` and `tasks`.
    """

    @classmethod
    def of_requirement(cls, result: Result, id: str, description: str, tasks: Sequence[str]) -> Self:
        """The result of a run as that of a requirement."""
        made = cls.__new__(cls)
        made.__dict__.update(result.__dict__)
        made.update(result, requirement_id=id, requirement_description=description, tasks=list(tasks))
        return made


class SubAgentsResult(dict[str, Json]):
    """The dict that `run_per_requirement` documents, JSON-serialisable.

    `results` are the children's results, in the order of the requirements; they are the entries of `sub_results`.
    """

    def __init__(self, results: Sequence[SubResult] = ()) -> None:
        self.results = list(results)
        super().__init__(
            answer=f"Completed {len(self.results)} sub-agent evaluations.",
            sub_results=list(self.results),
            metrics=_metrics(self.results),
        )

    @property
    def usage(self) -> Usage:
        """The sum of the children's usages; a child that was lost with its worker has none."""
        return sum((result.usage for result in self.results), Usage())

    def __repr__(self) -> str:
        failed = sum(result.is_error for result in self.results)
        return f"SubAgentsResult(requirements={len(self.results)}, errors={failed})"

    def to_dict(self) -> dict[str, Json]:
        """Everything that is known as one JSON object: the documented dict, each entry as the `to_dict` of its result,
        and the `usage`."""
        return {
            **plain(self),
            "sub_results": [result.to_dict() for result in self.results],
            "usage": self.usage.to_dict(),
        }


def _metrics(results: Sequence[SubResult]) -> dict[str, Json]:
    total = {name: sum(result["metrics"][name] for result in results) for name in _TOTALS}

    def average(name: str) -> float:
        return round(total[name] / len(results), 2) if results else 0.0

    return {
        "total_requirements": len(results),
        "total_input_tokens": total["input_tokens"],
        "total_output_tokens": total["output_tokens"],
        "total_tokens": total["total_tokens"],
        "total_steps": total["num_steps"],
        "total_tool_calls": total["num_tool_calls"],
        "avg_tokens_per_requirement": average("total_tokens"),
        "avg_steps_per_requirement": average("num_steps"),
        "avg_tool_calls_per_requirement": average("num_tool_calls"),
        "per_requirement_metrics": [
            {
                "requirement_index": index,
                "requirement_id": result["requirement_id"],
                **{name: result["metrics"][name] for name in _TOTALS},
                "steps": result["metrics"]["steps"],
                "tool_calls": result["metrics"]["tool_calls"],
            }
            for index, result in enumerate(results)
        ],
        "all_tool_calls": [
            {"requirement_id": result["requirement_id"], "requirement_index": index, **call}
            for index, result in enumerate(results)
            for call in result["metrics"]["tool_calls"]
        ],
    }
