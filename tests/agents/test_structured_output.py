"""Runs whose answer has a type."""

import asyncio
import json
import pickle
from typing import Any

import pytest
from pydantic import BaseModel, field_validator
from smolagents import tool

from agentltl.agents.agent import Agent
from agentltl.agents.agent_with_constraints import AgentWithConstraints
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.errors import ConstraintError, OutputError
from agentltl.record.events import Event
from agentltl.record.result import Result


class City(BaseModel):
    name: str
    country: str
    people: int = 0

    @field_validator("people")
    @classmethod
    def not_negative(cls, value: int) -> int:
        assert value >= 0, "there are no fewer than none"
        return value


KYOTO = {"name": "Kyoto", "country": "Japan"}


@tool
def look() -> str:
    """Look."""
    return "Kyoto, Japan"


def answer(value: Any) -> Any:
    return ("final_answer", {"answer": value})


def agent(*replies: Any, output_type: Any = City, **settings: Any) -> Agent:
    return Agent([look], ScriptedModel(replies), output_type=output_type, **settings)


def told(model: Any, number: int) -> str:
    """What the model was told last before its reply of this number."""
    return str(model.requests[number].messages[-1].content)


def test_the_output_is_an_instance() -> None:
    result = agent(("look", {}), answer(KYOTO)).run("Which city?")
    assert result.output == City(**KYOTO)
    assert result.content == {**KYOTO, "people": 0}
    assert result.content["name"] == "Kyoto"
    assert list(result.content) == ["name", "country", "people"]
    assert str(result) == str(City(**KYOTO)) == result["answer"]
    assert json.loads(json.dumps(result.to_dict()))["content"] == result.content
    assert pickle.loads(pickle.dumps(result)).output == result.output
    assert result.success


def test_the_model_is_told_the_schema() -> None:
    made = agent(answer(KYOTO))
    made.run("Which city?")
    request = made.model.requests[0]  # type: ignore[attr-defined]
    (offered,) = [t for t in request.tools if t.name == "final_answer"]
    assert offered.inputs["answer"]["required"] == ["name", "country"]
    assert "'country': {'title': 'Country', 'type': 'string'}" in request.text


def test_a_wrong_answer_goes_back_with_all_that_is_wrong() -> None:
    made = agent(answer({"name": 7, "people": -1}), answer(KYOTO))
    result = made.run("Which city?")
    assert result.output == City(**KYOTO)
    said = told(made.model, 1)
    assert "`name`: Input should be a valid string" in said
    assert "`country`: Field required" in said
    assert "there are no fewer than none" in said
    calls = result["metrics"]["tool_calls"]
    assert [call["tool_name"] for call in calls] == ["final_answer", "final_answer"]
    assert "OutputError" in result["metrics"]["steps"][0]["error"]


@pytest.mark.parametrize("retries", [0, 1, 2])
def test_it_goes_back_as_often_as_it_may(retries: int) -> None:
    events: list[Event] = []
    made = agent(*[answer({"name": "x"})] * 5, output_retries=retries, sinks=[events.append])
    result = made.run("Which city?")
    assert len(made.model.requests) == retries + 1  # type: ignore[attr-defined]
    assert (result.output, result.success, result.ending) == (None, False, "error")
    assert result.error_class == "OutputError"
    assert "`country`: Field required" in str(result["error"])
    ends = [e.data["status"] for e in events if e.kind == "tool_call_end"]
    assert ends == ["failed"] * (retries + 1)


def test_each_run_may_try_as_often() -> None:
    made = agent(answer({}), answer(KYOTO), answer({}), answer(KYOTO))
    assert made.run("Which city?").success
    assert made.run("And which now?").success


@pytest.mark.parametrize(
    "wrong", [("final_answer", {}), ("final_answer", {"city": "Kyoto"}), answer("Kyoto"), answer(None), answer([])]
)
def test_a_call_that_smolagents_does_not_accept_counts_too(wrong: Any) -> None:
    made = agent(*[wrong] * 3)
    result = made.run("Which city?")
    assert (result.success, len(made.model.requests)) == (False, 2)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "written",
    [answer(json.dumps(KYOTO)), ("final_answer", KYOTO), ("final_answer", json.dumps({"answer": KYOTO}))],
)
def test_an_answer_that_is_meant_is_taken(written: Any) -> None:
    result = agent(written).run("Which city?")
    assert result.output == City(**KYOTO)
    assert result["metrics"]["tool_calls"][-1]["arguments"] == {"answer": KYOTO}


@pytest.mark.parametrize(
    ("output_type", "given", "expected"),
    [
        (list[int], [1, 2], [1, 2]),
        (int, 7, 7),
        (str, "x", "x"),
        (str, '{"a": 1}', '{"a": 1}'),
        (set[str], ["b", "a"], {"a", "b"}),
        (dict[str, list[City]], {"in": [KYOTO]}, {"in": [City(**KYOTO)]}),
        (City | None, None, None),
        (int | str, "7", "7"),
    ],
)
def test_any_type_that_pydantic_takes(output_type: Any, given: Any, expected: Any) -> None:
    result = agent(answer(given), output_type=output_type).run("Go.")
    assert result.output == expected
    assert json.dumps(result.to_dict())


def test_the_text_of_the_last_resort_is_read() -> None:
    fenced = f"Here it is:\n```json\n{json.dumps(KYOTO)}\n```"
    for text in (json.dumps(KYOTO), fenced):
        result = agent(("look", {}), text, max_steps=1).run("Which city?")
        assert (result.output, result.ending) == (City(**KYOTO), "max_steps")
    result = agent(("look", {}), "It is Kyoto.", max_steps=1).run("Which city?")
    assert (result.output, result.error_class, result.success) == (None, "OutputError", False)
    assert "is no `City`" in str(result["error"])


def test_a_validator_may_ask_again_and_change_the_output() -> None:
    made = agent(answer(KYOTO), answer({**KYOTO, "people": 1_400_000}))

    @made.output_validator
    def counted(city: City) -> City:
        if not city.people:
            raise ValueError("How many people live there?")
        return city

    @made.output_validator
    async def shouted(city: City) -> City:
        await asyncio.sleep(0)
        return city.model_copy(update={"name": city.name.upper()})

    result = made.run("Which city?")
    assert result.output == City(name="KYOTO", country="Japan", people=1_400_000)
    assert "How many people live there?" in told(made.model, 1)
    assert callable(counted)
    assert callable(shouted)


def test_a_validator_needs_no_type() -> None:
    made = agent(answer("no"), answer("yes"), output_type=None)

    @made.output_validator
    def positive(text: str) -> str:
        assert text == "yes", "say yes"
        return text

    result = made.run("Go.")
    assert result.output == "yes"
    assert "say yes" in told(made.model, 1)


def test_without_type_and_validator_nothing_is_different() -> None:
    made = agent(answer(KYOTO), output_type=None)
    assert type(made.smolagent.tools["final_answer"]).__module__.startswith("smolagents")


def test_an_answer_beside_another_call_is_none() -> None:
    made = agent([("look", {}), answer(KYOTO)], answer({**KYOTO, "people": 1}))
    assert made.run("Which city?").output == City(**KYOTO, people=1)


def test_a_streamed_answer_comes_once_it_is_one() -> None:
    model = ScriptedModel([answer({}), answer(KYOTO)], streaming=True)
    events = list(Agent([look], model, output_type=City).stream("Go."))
    assert [e.data["text"] for e in events if e.kind == "text_delta"] == [str(City(**KYOTO))]
    assert events[-1].data["result"].output == City(**KYOTO)


def test_twins_have_validators_and_counts_of_their_own() -> None:
    made = agent(answer({"name": "x"}), answer(KYOTO))
    made.output_validator(lambda city: city)
    twin = made._twin()
    assert twin._output is not made._output
    assert twin._output is not None
    assert twin._output.validators is made._validators


# Under constraints


def guarded(*replies: Any, rules: Any, **settings: Any) -> Result:
    return AgentWithConstraints([look], ScriptedModel(replies), constraints=rules, output_type=City, **settings).run(
        "Go"
    )


def test_rules_reach_into_the_answer() -> None:
    rule = {"name": "home", "rule": 'G !final_answer(answer.country = "Japan")', "severity": "SOFT_BLOCK"}
    result = guarded(answer(KYOTO), answer({"name": "Rome", "country": "Italy"}), rules=[rule])
    assert result.output == City(name="Rome", country="Italy")


def test_what_is_owed_comes_before_the_type() -> None:
    rule = {"name": "look", "rule": "F look", "severity": "SOFT_BLOCK", "applies_to_final_answer": True}
    result = guarded(answer(KYOTO), ("look", {}), answer({}), answer(KYOTO), rules=[rule])
    assert result.output == City(**KYOTO)
    assert result.compliance == 1.0
    result = guarded(answer({}), ("look", {}), answer({}), answer({}), rules=[rule], output_retries=0)
    assert (result.success, result.error_class) == (False, "OutputError")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"output_type": City, "output": City}, "two output types"),
        ({"output_retries": -1}, "`output_retries` is `-1`"),
        ({"output_type": 7}, "no type that can be checked"),
    ],
)
def test_settings_that_make_no_sense_are_errors(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConstraintError, match=words):
        Agent([], ScriptedModel([]), **settings)


def test_output_is_another_name() -> None:
    assert Agent([], ScriptedModel([answer(KYOTO)]), output=City).run("Go.").output == City(**KYOTO)


def test_the_error_is_one_class() -> None:
    assert issubclass(OutputError, ValueError)


class Tree(BaseModel):
    value: int
    children: list["Tree"] = []


class Cat(BaseModel):
    kind: str
    lives: int


class Answered(BaseModel):
    answer: str
    score: int = 0


@pytest.mark.parametrize(
    ("output_type", "arguments"),
    [
        (Tree, {"answer": '{"value": 1}'}),
        (Tree, {"value": 1, "children": [{"value": 2}]}),
        (Cat | City, {"kind": "cat", "lives": 9}),
        (Cat | None, {"kind": "cat", "lives": 9}),
        (Answered, {"answer": "x", "score": 1}),
        (Answered, {"answer": "x"}),
    ],
)
def test_fields_in_the_place_of_the_argument_are_taken(output_type: Any, arguments: Any) -> None:
    result = agent(("final_answer", arguments), output_type=output_type, output_retries=0).run("Go.")
    assert result.success, result["error"]


def test_a_type_that_refers_to_itself_can_be_the_last_resort() -> None:
    result = agent(("look", {}), '{"value": 1}', output_type=Tree, max_steps=1).run("Go.")
    assert result.output == Tree(value=1)


def test_what_a_validator_makes_of_an_answer_is_what_the_call_gave() -> None:
    made = agent(answer("x"), output_type=None)
    made.output_validator(lambda text: text.upper())
    result = made.run("Go.")
    assert result["metrics"]["tool_calls"][0]["tool_result"] == result["answer"] == "X"
