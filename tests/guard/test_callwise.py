"""The guard for code: steps are numbered by calls, and records carry the run's step."""

import copy
import pickle

from agentltl.guard.callwise import CallwiseGuard

RULE = {"name": "r", "rule": "G !pay[failed] & G !same_step", "severity": "PERSISTENT_BLOCK"}


def test_each_call_is_a_step_of_its_own() -> None:
    guard = CallwiseGuard([RULE])
    guard.said("Go.")
    for step in (1, 1, 2):
        assert guard.propose("read", step=step).allowed
    guard.said("Go on.")
    assert guard.propose("read", step=1).allowed
    assert [call.step for call in guard.trace.calls] == [1, 2, 3, 4]


def test_a_violation_has_the_step_of_the_run() -> None:
    guard = CallwiseGuard([RULE, {"name": "never", "rule": "never(stop)", "severity": "PERSISTENT_BLOCK"}])
    first = guard.propose("pay", step=4)
    assert guard.propose("stop", step=5).violations[0].step_number == 5
    second = guard.propose("pay", step=6)
    guard.settle(second, result="paid")
    assert guard.settle(first, error="no money").violations[0].step_number == 4


def test_a_call_without_a_step() -> None:
    guard = CallwiseGuard([{"name": "never", "rule": "never(stop)"}])
    assert guard.propose("stop").violations[0].step_number is None


def test_a_reset_begins_anew() -> None:
    guard = CallwiseGuard([RULE])
    guard.propose("read", step=1)
    guard.propose("read", step=1)
    guard.reset()
    guard.propose("read", step=3)
    assert [call.step for call in guard.trace.calls] == [1]


def test_copies_go_their_own_ways() -> None:
    for again in (copy.deepcopy, lambda guard: pickle.loads(pickle.dumps(guard))):
        guard = CallwiseGuard([RULE])
        twin = again(guard)
        decision = guard.propose("pay", step=1)
        twin.propose("pay", step=9)
        assert guard.settle(decision, error="no").violations[0].step_number == 1


def test_a_message_insists_on_what_was_refused_in_the_one_before() -> None:
    guard = CallwiseGuard([{"name": "never", "rule": "never(pay)", "severity": "BLOCK_AND_WARN"}])
    assert not guard.propose("pay", {"to": "bob"}, step=1).allowed
    assert not guard.propose("pay", {"to": "bob"}, step=1).allowed, "the same message"
    assert guard.propose("pay", {"to": "bob"}, step=2).allowed
    assert not guard.propose("pay", {"to": "bob"}, step=3).allowed, "good for once"


def test_a_question_counts_as_no_message() -> None:
    guard = CallwiseGuard([{"name": "never", "rule": "never(pay)", "severity": "BLOCK_AND_WARN"}])
    assert not guard.propose("pay", step=1).allowed
    assert guard.refuses("pay", step=5)
    assert guard.touches("pay", step=6)
    guard.said("Pay.")
    assert guard.propose("pay", step=1).allowed, "the next message"
