"""Files of traces: every form a line may have, what cannot be read, and all traces of the sample."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from agentltl.constraints.readers.jsonl import read_jsonl
from agentltl.constraints.trace import Message, Trace
from agentltl.errors import TraceError

SAMPLE = Path(__file__).parents[3] / "examples" / "tau_bench" / "tau-bench-sample.jsonl.gz"

CALLS: dict[str, Any] = {"tool_calls": [{"tool_name": "a", "tool_result": "x"}]}
CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "1", "content": "x"},
]
STEPS = [
    {"task": "go"},
    {"step_number": 1, "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": {}}}], "observations": "x"},
]


@pytest.fixture(scope="module")
def sample() -> list[Trace]:
    return Trace.from_jsonl(SAMPLE)


def test_every_trace_of_the_sample_loads(sample: list[Trace]) -> None:
    reading = read_jsonl(SAMPLE)
    assert list(reading) == sample
    assert reading.unread == []
    assert [t.id for t in sample] == [f"tau-{i:03}" for i in range(225)]
    assert sum(len(t) for t in sample) == 1613
    assert {t.fields["suite"] for t in sample} == {"retail", "airline"}
    assert all(set(t.fields) == {"suite", "solved"} for t in sample)


def test_the_sample_says_what_its_lines_say(sample: list[Trace]) -> None:
    with gzip.open(SAMPLE, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    for trace, record in zip(sample, records, strict=True):
        entries = record["tool_calls"]
        assert trace.events == [e["tool_name"] for e in entries]
        assert [c.args for c in trace.calls] == [e["arguments"] for e in entries]
        assert [c.step for c in trace.calls] == [e["turn"] for e in entries]
        assert [c.id for c in trace.calls] == [e["id"] for e in entries]
        outcomes = [c.outcome for c in trace.calls]
        assert [o and o.text for o in outcomes] == [e["tool_result"] for e in entries]
        assert [o and o.error for o in outcomes] == [e["error"] for e in entries]
        assert [o and o.ok for o in outcomes] == [e["error"] is None for e in entries]
        said = [Message(m["content"], m["before_step"]) for m in record["user_messages"]]
        assert trace.messages == tuple(said)


def test_the_raw_arguments_of_the_sample_read_as_its_arguments() -> None:
    with gzip.open(SAMPLE, "rt", encoding="utf-8") as lines:
        entries = [entry for line in lines for entry in json.loads(line)["tool_calls"]]
    raw = [{key: entry[key] for key in ("tool_name", "args_raw")} for entry in entries]
    calls = Trace.from_metrics({"tool_calls": raw}).calls
    assert [c.args for c in calls] == [e["arguments"] for e in entries]
    assert any(e["args_raw"].startswith("{'") for e in entries)


@pytest.mark.parametrize(
    ("line", "identifier", "messages", "fields"),
    [
        (CALLS | {"id": "m", "suite": "s"}, "m", None, {"suite": "s"}),
        (CALLS | {"id": 5}, "5", None, {}),
        (CALLS, "1", None, {}),
        (CALLS | {"user_messages": [{"before_step": 0, "content": "go"}]}, "1", (Message("go"),), {}),
        (
            {"answer": "y", "metrics": CALLS | {"num_steps": 1}, "error": None},
            "1",
            None,
            {"answer": "y", "error": None, "num_steps": 1},
        ),
        # A result that also lists its calls and its chat is judged by its metrics, which say the most.
        ({"id": "r", "metrics": CALLS, "tool_calls": [{"name": "z"}], "messages": CHAT}, "r", None, {}),
        ({"messages": CHAT, "id": "c", "model": "m"}, "c", (Message("go"),), {"model": "m"}),
        ({"messages": CHAT, "tool_calls": None}, "1", (Message("go"),), {}),
        ({"messages": CHAT, "metrics": {"reward": 1}}, "1", (Message("go"),), {"metrics": {"reward": 1}}),
        (CALLS | {"metrics": {"reward": 1}}, "1", None, {"metrics": {"reward": 1}}),
        (CHAT, "1", (Message("go"),), {}),
        (STEPS, "1", (Message("go"),), {}),
    ],
)
def test_the_forms_of_a_line(line: Any, identifier: str, messages: Any, fields: dict[str, Any]) -> None:
    (trace,) = Trace.from_jsonl([json.dumps(line)])
    assert trace.events == ["a"]
    (call,) = trace.calls
    assert call.outcome is not None
    assert call.outcome.ok
    assert call.outcome.text == "x"
    assert (trace.id, trace.messages, trace.fields) == (identifier, messages, fields)


def test_an_empty_chat_and_an_empty_trace_are_traces() -> None:
    assert [len(t) for t in Trace.from_jsonl(["[]", '{"tool_calls": []}', '{"messages": []}'])] == [0, 0, 0]


LINES = "\n".join([json.dumps(CALLS), "", "   ", json.dumps(CALLS | {"note": "Ähre"}), ""])


def test_the_sources(tmp_path: Path) -> None:
    plain, packed, odd = tmp_path / "t.jsonl", tmp_path / "t.jsonl.gz", tmp_path / "packed-without-saying"
    plain.write_text(LINES, encoding="utf-8")
    packed.write_bytes(gzip.compress(LINES.encode()))
    odd.write_bytes(packed.read_bytes())
    expected = Trace.from_jsonl(LINES.splitlines())
    assert [t.id for t in expected] == ["1", "4"]
    assert expected[1].fields == {"note": "Ähre"}
    for source in (plain, str(plain), packed, odd, io.StringIO(LINES), io.BytesIO(LINES.encode())):
        assert Trace.from_jsonl(source) == expected
    with plain.open(encoding="utf-8") as text, plain.open("rb") as binary:
        assert Trace.from_jsonl(text) == expected
        assert Trace.from_jsonl(binary) == expected
    assert Trace.from_jsonl(line for line in LINES.encode().split(b"\n")) == expected
    assert Trace.from_jsonl([CALLS, CALLS]) == Trace.from_jsonl([json.dumps(CALLS)] * 2)


def test_a_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + (json.dumps(CALLS) + "\r\n").encode() * 2)
    assert [t.id for t in Trace.from_jsonl(path)] == ["1", "2"]
    assert [t.id for t in Trace.from_jsonl(["\ufeff" + json.dumps(CALLS)])] == ["1"]


@pytest.mark.parametrize(
    ("document", "identifiers"),
    [
        (json.dumps(CALLS, indent=2), ["1"]),
        (json.dumps([CALLS, CALLS | {"id": "b"}, CHAT], indent=2), ["1", "b", "3"]),
        (json.dumps(CHAT, indent=2), ["1"]),
        (json.dumps({"messages": CHAT, "id": "c"}), ["c"]),
        ("[]", []),
        (LINES, ["1", "4"]),
    ],
)
def test_documents(tmp_path: Path, document: str, identifiers: list[str]) -> None:
    for name in ("t.json", "t.JSON"):
        (tmp_path / name).write_text(document, encoding="utf-8")
        assert [t.id for t in Trace.from_jsonl(tmp_path / name)] == identifiers
    (tmp_path / "t.json.gz").write_bytes(gzip.compress(document.encode()))
    assert [t.id for t in Trace.from_jsonl(tmp_path / "t.json.gz")] == identifiers


def test_an_empty_file_has_no_traces(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text("")
    assert Trace.from_jsonl(tmp_path / "t.jsonl") == []


BAD: list[tuple[str | bytes, str]] = [
    ("{", "no JSON: "),
    ("nonsense", "no JSON: Expecting value at column 1\n"),
    (json.dumps(CALLS) + json.dumps(CALLS), "no JSON: Extra data at column"),
    (b'{"tool_calls": "\xff"}', "no text in UTF-8\n"),
    ("[" * 100_000, "a value is nested too deeply\n"),
    ('{"tool_calls": [], "deep": ' + "[" * 600 + "]" * 600 + "}", "the fields: a value is nested too deeply\n"),
    ("1" * 5000, "no JSON: "),
    ("5", "`5` is no trace\n"),
    ("null", "`None` is no trace\n"),
    ('["a"]', "`['a']` is no trace\n"),
    ("{}", "there is neither `tool_calls` nor `messages`\n"),
    ('{"role": "user", "content": "x"}', "this is one message, not a chat\n"),
    (json.dumps(CHAT[1]), "this is one message, not a chat\n"),
    ('{"answer": null, "metrics": null, "error": "boom"}', "the result has no metrics"),
    ('{"tool_calls": {}}', "there is no list `tool_calls`\n"),
    ('{"tool_calls": [{}]}', "`tool_calls[0]`: the call has no name\n"),
    ('{"metrics": {"tool_calls": [{}]}}', "`metrics`: `tool_calls[0]`: the call has no name\n"),
    ('{"messages": [{}]}', "`messages[0]`: there is no role\n"),
    ('[{"role": "tool", "content": "x"}]', "`messages[0]`: the result belongs to no call before it\n"),
    ('{"tool_calls": [], "id": [1]}', "the id `[1]` is no text\n"),
]


@pytest.mark.parametrize(("line", "problem"), BAD, ids=[str(line[:30]) for line, _ in BAD])
def test_a_line_that_is_no_trace_keeps_no_other_from_being_read(line: str | bytes, problem: str) -> None:
    good = json.dumps(CALLS)
    lines = [good, "", line, good]
    reading = read_jsonl(lines)
    assert [t.id for t in reading] == ["1", "4"]
    ((place, said),) = reading.unread
    assert place == "line 3"
    assert problem in said
    assert "\n" in said
    with pytest.raises(TraceError) as caught:
        Trace.from_jsonl(lines)
    assert str(caught.value) == f"line 3: {said}"


def test_reading_again_begins_anew() -> None:
    reading = read_jsonl([json.dumps(CALLS), "x"])
    for _ in range(2):
        assert len(list(reading)) == 1
        assert [place for place, _ in reading.unread] == ["line 2"]


def test_traces_come_one_after_another() -> None:
    asked: list[int] = []

    def lines() -> Any:
        for i in range(3):
            asked.append(i)
            yield json.dumps(CALLS)

    reading = iter(read_jsonl(lines()))
    next(reading)
    assert asked == [0]


def test_an_error_names_the_file_and_the_line(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(CALLS) + "\nx\n")
    with pytest.raises(TraceError) as caught:
        Trace.from_jsonl(path)
    assert str(caught.value).startswith(f"`{path}`, line 2: no JSON: ")
    path = tmp_path / "t.json"
    path.write_text("[\n 1,\n x]")
    with pytest.raises(TraceError, match=r"the file: no JSON: Expecting value at line 3, column 2"):
        Trace.from_jsonl(path)
    path.write_text(json.dumps([CALLS, {}]))
    with pytest.raises(TraceError, match=r"entry 2: there is neither"):
        Trace.from_jsonl(path)


def test_a_packed_file_that_breaks_off_gives_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    lines = "".join(json.dumps(CALLS | {"n": f"{i * 7919 % 10_007}"}) + "\n" for i in range(5_000))
    path.write_bytes(gzip.compress(lines.encode())[:-2_000])
    reading = read_jsonl(path)
    read = len(list(reading))
    assert 0 < read < 5_000
    ((place, problem),) = reading.unread
    assert place == f"after line {read}"
    assert "cannot be read on" in problem
    with pytest.raises(TraceError, match="cannot be read on"):
        Trace.from_jsonl(path)


def test_text_in_another_encoding_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes('{"tool_calls": [], "x": "ä"}'.encode("latin-1"))
    with path.open(encoding="utf-8") as file:
        reading = read_jsonl(file)
        assert list(reading) == []
    assert [place for place, _ in reading.unread] == ["the file"]


def test_sources_that_are_none(tmp_path: Path) -> None:
    for source in (None, 5, b"{}", CALLS):
        with pytest.raises(TraceError, match="is no source of traces\n"):
            Trace.from_jsonl(source)
    for path in (tmp_path / "absent.jsonl", tmp_path, '{"tool_calls": []}'):
        with pytest.raises(TraceError, match=r"cannot be opened: .*\ncheck the path"):
            Trace.from_jsonl(path)


def test_a_trace_of_ten_thousand_calls() -> None:
    line = json.dumps({"tool_calls": [{"step": i, "tool_name": "t", "arguments": {"i": i}} for i in range(10_000)]})
    (trace,) = Trace.from_jsonl([line])
    assert [c.args["i"] for c in trace.calls] == list(range(10_000))
