"""The tasks that are kept."""

from a2a.server.context import ServerCallContext
from a2a.types import Artifact, ListTasksRequest, Part, Task, TaskState, TaskStatus

from agentltl.server.tasks import Tasks
from tests.server.a2a_client import run

HERE = ServerCallContext()


def task(name: str, state: str, *texts: str) -> Task:
    parts = [Part(text=text) for text in texts]
    status = TaskStatus(state=TaskState.Value(f"TASK_STATE_{state}"))
    return Task(id=name, context_id="c", status=status, artifacts=[Artifact(artifact_id="a", parts=parts)])


def kept(tasks: Tasks) -> set[str]:
    return {one.id for one in run(tasks.list(ListTasksRequest(), HERE)).tasks}


def save(tasks: Tasks, *those: Task) -> None:
    for one in those:
        run(tasks.save(one, HERE))


def test_the_task_that_changed_longest_ago_is_forgotten() -> None:
    tasks = Tasks(2)
    save(tasks, task("a", "COMPLETED"), task("b", "FAILED"), task("a", "COMPLETED"), task("c", "CANCELED"))
    assert kept(tasks) == {"a", "c"}


def test_none_that_goes_on_is_forgotten() -> None:
    tasks = Tasks(1)
    save(tasks, task("a", "WORKING"), task("b", "SUBMITTED"), task("c", "COMPLETED"))
    assert kept(tasks) == {"a", "b"}
    save(tasks, task("a", "INPUT_REQUIRED"))
    assert kept(tasks) == {"b"}


def test_pieces_of_an_answer_become_one_at_the_end() -> None:
    tasks = Tasks(9)
    written = task("a", "WORKING", "red", ", ", "blue")
    save(tasks, written)
    assert len(run(tasks.get("a", HERE)).artifacts[0].parts) == 3  # type: ignore[union-attr]
    save(tasks, task("a", "COMPLETED", "red", ", ", "blue"))
    assert [p.text for p in run(tasks.get("a", HERE)).artifacts[0].parts] == ["red, blue"]  # type: ignore[union-attr]
