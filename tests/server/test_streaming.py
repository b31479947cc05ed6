"""A task that is followed while it runs."""

from typing import Any

from a2a.types import StreamResponse, TaskState

from tests.server.a2a_client import answer, connected, follow, found, noted, run
from tests.server.conftest import Deploy

ANSWER = ("final_answer", {"answer": "red, yellow and blue"})


def told(updates: list[StreamResponse], what: str) -> list[dict[str, Any]]:
    notes = [noted(update.status_update) for update in updates if update.HasField("status_update")]
    return [note[what] for note in notes if what in note]


def states(updates: list[StreamResponse]) -> list[str]:
    """The states of the task, each once."""
    seen = [
        u.task.status.state if u.HasField("task") else u.status_update.status.state
        for u in updates
        if not u.HasField("artifact_update")
    ]
    names = [TaskState.Name(one).removeprefix("TASK_STATE_").lower() for one in seen]
    return [name for i, name in enumerate(names) if i == 0 or names[i - 1] != name]


def pieces(updates: list[StreamResponse]) -> list[tuple[str, bool, bool]]:
    """Text, whether it is appended, whether it is the last, of each piece of the answer."""
    found = [update.artifact_update for update in updates if update.HasField("artifact_update")]
    return [("".join(part.text for part in one.artifact.parts), one.append, one.last_chunk) for one in found]


def test_states_and_calls_are_told_as_they_happen(deploy: Deploy) -> None:
    updates = follow(deploy([("ping", {"n": 7654321}), ANSWER]).url, "Ping.")
    assert states(updates) == ["submitted", "working", "completed"]
    assert [(call["tool_name"], call["status"]) for call in told(updates, "tool_call")] == [
        ("ping", "started"),
        ("ping", "ok"),
    ]
    assert len({call["id"] for call in told(updates, "tool_call")}) == 1
    assert "7654321" not in str(updates)
    assert noted(updates[-1].status_update)["usage"]["model_calls"] == 2


def test_arguments_and_results_are_told_when_they_are_shared(deploy: Deploy) -> None:
    updates = follow(deploy([("ping", {"n": 7}), ANSWER], share_tool_calls=True).url, "Ping.")
    started, ended = told(updates, "tool_call")
    assert started["arguments"] == {"n": 7}
    assert "result" not in started
    assert (ended["result"], ended["error"]) == ("7", None)


def test_a_violation_is_told_by_its_name(deploy: Deploy) -> None:
    rules = [{"name": "once", "rule": "at_most_once(ping)", "severity": "PERSISTENT_BLOCK"}]
    updates = follow(
        deploy([("ping", {"n": 1}), ("ping", {"n": 2}), ANSWER], agent={"constraints": rules}).url, "Ping."
    )
    assert told(updates, "violation") == [
        {"constraint_name": "once", "severity": "PERSISTENT_BLOCK", "tool_name": "ping"}
    ]
    assert [call["status"] for call in told(updates, "tool_call")] == ["started", "ok", "started", "blocked"]


def test_the_pieces_of_the_answer_are_the_answer(deploy: Deploy) -> None:
    deployed = deploy([ANSWER], streams=True)
    updates = follow(deployed.url, "Name the colours.")
    told = pieces(updates)
    assert "".join(text for text, _, _ in told) == "red, yellow and blue"
    assert [append for _, append, _ in told] == [False] + [True] * (len(told) - 1)
    assert [last for _, _, last in told] == [False] * (len(told) - 1) + [True]
    assert states(updates)[-1] == "completed"


def test_the_kept_task_has_the_answer_in_one_piece(deploy: Deploy) -> None:
    deployed = deploy([ANSWER], streams=True)
    updates = follow(deployed.url, "Name the colours.")

    async def kept() -> Any:
        async with connected(deployed.url) as client:
            return await found(client, updates[0].task.id)

    task = run(kept())
    assert answer(task) == "red, yellow and blue"
    assert len(task.artifacts[0].parts) == 1
