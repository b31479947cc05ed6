"""JSON decoded in haste: the same values as by `json`, or none."""

import json
import math
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentltl.constraints.readers.decode import faster, has_long_number
from agentltl.constraints.readers.jsonl import parse
from agentltl.constraints.readers.sketch import decoded

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    faster.cache_clear()
    yield
    faster.cache_clear()


@given(VALUES, st.booleans())
def test_every_value_is_the_one_that_json_reads(value: object, ascii_only: bool) -> None:
    raw = json.dumps(value, ensure_ascii=ascii_only)
    found, hasty = decoded(raw)
    if hasty and has_long_number(raw):
        return
    assert repr(found) == repr(json.loads(raw))


@pytest.mark.parametrize(
    "raw", ["NaN", "[Infinity]", '"\\ud800"', "\ufeff1", "1e999", b"\xef\xbb\xbf[1]", '{"a": 1, "a": 2}', " 1 ", "-0"]
)
def test_what_the_faster_library_refuses_or_may_see_otherwise(raw: str | bytes) -> None:
    assert repr(decoded(raw)[0]) == repr(parse(raw))


def test_a_whole_number_beyond_64_bits_is_noticed() -> None:
    for number in (2**64, -(2**63) - 1, 10**40):
        assert has_long_number(json.dumps([number]))
        assert has_long_number(json.dumps([number]).encode())
    assert not has_long_number(json.dumps([10**17, "ä", 1.5]))


def test_without_the_faster_library_json_decodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "orjson", None)
    assert faster() is None
    value, hasty = decoded("[NaN, 1]")
    assert not hasty
    assert math.isnan(value[0])
