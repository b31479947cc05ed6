"""Rule files: what they say, and for everything that can be wrong the place and what to do."""

import json
from pathlib import Path
from textwrap import dedent

import jsonschema
import pytest

from agentltl.constraints.constraint import constraints_of
from agentltl.constraints.rule_file import RuleFile, load_rules
from agentltl.constraints.rule_files.rule_schema import schema, shipped
from agentltl.constraints.text import parse
from agentltl.errors import RuleFileError

GOOD = """
version: 1
groups:
  writes: [cancel_order, modify_*, "@returns"]   # names, globs, other groups
  returns: [return_order]
constraints:
  - name: read-before-write
    rule: |-
      G (@writes(order_id = ?o) -> O get_order(order_id = ?o)[ok])
    severity: HARD_STOP
    weight: 2.0
    description: An order is read before it is changed
    repair: Call get_order for this order first
  - name: no-pay
    rule: G !pay
    severity: TOLERATE
    weight: 0
    where: {suite: [retail, airline], solved: true}
"""


def write(folder: Path, text: str, name: str = "rules.yaml") -> Path:
    path = folder / name
    path.write_bytes(dedent(text).lstrip("\n").encode())
    return path


def load(folder: Path, text: str) -> RuleFile:
    return load_rules(write(folder, text))


def complaint(folder: Path, text: str) -> str:
    with pytest.raises(RuleFileError) as caught:
        load(folder, text)
    return str(caught.value).replace(str(folder) + "/", "")


def rule(text: str) -> str:
    """A file with one rule, as it would be written on a line of its own."""
    return f"version: 1\nconstraints:\n  - name: r\n    rule: {text}\n"


def test_what_a_file_says(tmp_path: Path) -> None:
    read = load(tmp_path, GOOD)
    first, second = read.constraints
    assert first.name == "read-before-write"
    assert first.formula == parse(
        "G (@writes(order_id = ?o) -> O get_order(order_id = ?o)[ok])",
        {"writes": ["cancel_order", "modify_*", "return_order"]},
    )
    assert (first.severity, first.weight, first.where) == ("HARD_STOP", 2.0, None)
    assert (first.description, first.repair) == (
        "An order is read before it is changed",
        "Call get_order for this order first",
    )
    assert (second.severity, second.weight, second.where) == (
        "TOLERATE",
        0.0,
        {"suite": ["retail", "airline"], "solved": True},
    )
    assert read.groups == {"writes": ("cancel_order", "modify_*", "@returns"), "returns": ("return_order",)}
    assert constraints_of(str(tmp_path / "rules.yaml")) == read.constraints


def test_a_file_without_constraints_is_none(tmp_path: Path) -> None:
    assert load(tmp_path, "version: 1\n") == RuleFile()


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        pytest.param(
            "version: 1\nconstraints:\n  - name: a\n    rule: G !x\n    wieght: 2\n",
            "rules.yaml:5:5: unknown key `wieght`\n        wieght: 2\n        ^^^^^^",
            "did you mean `weight`?",
            id="unknown key",
        ),
        pytest.param("version: 1\nrules: []\n", "rules.yaml:2:1: unknown key `rules`", "constraints", id="file key"),
        pytest.param(
            "version: 1\nconstraints:\n  - name: a\n    formula: G !x\n", "4:5: ", "did you mean `rule`?", id="formula"
        ),
        pytest.param(
            "version: 1\nconstraints:\n  - name: a\n    rule: G !x\n    allows: []\n",
            "5:5: key `allows` is not there yet",
            "leave it out",
            id="later key",
        ),
        pytest.param(
            "version: 1\nconstraints:\n  - name: a\n    rule: G !x\n    severity: HARDSTOP\n",
            "5:15: unknown severity `HARDSTOP`\n        severity: HARDSTOP\n                  ^^^^^^^^",
            "did you mean `HARD_STOP`?",
            id="severity",
        ),
        pytest.param(
            "version: 1\nconstraints:\n  - name: a\n    rule: G !x\n    severity: SOFT_BLOK\n",
            "5:15: unknown severity `SOFT_BLOK`",
            "did you mean `SOFT_BLOCK`?",
            id="misspelt severity",
        ),
        pytest.param(
            "version: 1\nconstraints:\n  - name: a\n    rule: G !x\n  - name: a\n    rule: G !y\n",
            "5:11: two constraints are named `a`",
            "rules.yaml:3",
            id="duplicate name",
        ),
        pytest.param(
            "version: 1\nconstraints:\n  - name: a\n    rule: G !x\n    rule: G !y\n",
            "5:5: key `rule` stands twice",
            "line 4",
            id="duplicate key",
        ),
        pytest.param(
            "version: 1\ngroups:\n  a: [x]\n  a: [y]\n", "4:3: key `a` stands twice", "line 3", id="duplicate group"
        ),
        pytest.param(
            "version: 1\nconstraints:\n  - name: a\n    rule: G !x\n    weight: -1\n",
            "5:13: the weight is `-1`\n        weight: -1\n                ^^",
            "from 0 up",
            id="negative weight",
        ),
        pytest.param(
            "version: 1\nconstraints:\n  - {name: a, rule: G !x, weight: .inf}\n", "3:35: ", "finite", id="infinite"
        ),
        pytest.param(
            "version: 1\nconstraints:\n  - {name: a, rule: G !x, weight: .nan}\n", "3:35: ", "finite", id="nan"
        ),
        pytest.param(
            'version: 1\nconstraints:\n  - {name: a, rule: G !x, weight: "2"}\n',
            "3:35: `weight` must be a number",
            "",
            id="weight as text",
        ),
        pytest.param(
            "version: 1\nconstraints:\n  - {name: a, rule: G !x, weight: true}\n",
            "3:35: `weight` must be a number",
            "",
            id="weight as truth",
        ),
        pytest.param(
            "version: 1\nconstraints:\n  - {name: 12, rule: G !x}\n",
            "3:12: `name` must be a text",
            "put it into quotes",
            id="name as number",
        ),
        pytest.param('version: 1\nconstraints:\n  - {name: "", rule: G !x}\n', "3:12: ", "name", id="empty name"),
        pytest.param('version: 1\ngroups: {"": [a]}\n', "2:10: this is empty", "name", id="empty group name"),
        pytest.param("version: 1.0\n", "1:10: unknown version `1.0`", "version: 1", id="fraction as version"),
        pytest.param(
            "version: 1\nconstraints:\n  - rule: G !x\n", "3:5: the constraint has no `name`", "", id="no name"
        ),
        pytest.param("version: 1\nconstraints:\n  - name: a\n", "3:5: the constraint has no `rule`", "", id="no rule"),
        pytest.param("version: 1\nconstraints:\n  name: a\n", "3:3: `constraints` must be a list", "", id="no list"),
        pytest.param("version: 1\nconstraints: [a]\n", "2:15: this must be a mapping", "", id="no mapping"),
        pytest.param("constraints: []\n", "1:1: the file has no `version`", "version: 1", id="no version"),
        pytest.param("version: 2\n", "1:10: unknown version `2`", "version: 1", id="unknown version"),
        pytest.param("version: true\n", "1:10: unknown version `true`", "version: 1", id="truth as version"),
        pytest.param('version: "1"\n', "1:10: unknown version", "version: 1", id="text as version"),
        pytest.param("- a\n", "1:1: a rule file is a mapping", "version: 1", id="a list"),
        pytest.param("", "1:1: the file is empty", "version: 1", id="empty"),
        pytest.param("version: 1\ngroups:\n  a: x\n", "3:6: `a` must be a list", "", id="group as text"),
        pytest.param(
            'version: 1\ngroups:\n  writes: [x]\n  a: ["@write"]\n',
            "4:7: unknown group `@write`",
            "did you mean `@writes`?",
            id="unknown group in a group",
        ),
        pytest.param(
            'version: 1\ngroups:\n  a: ["@b"]\n  b: ["@a"]\n', "3:3: the group `@a` contains itself", "@b", id="cycle"
        ),
        pytest.param(
            "version: 1\nconstraints:\n  - {name: a, rule: G !x, where: {suite: {a: 1}}}\n",
            "3:42: `suite` must be",
            "",
            id="where",
        ),
        pytest.param(
            "version: 1\nconstraints: &a\n  - *a\n",
            "2:14: this refers to itself",
            "write it out",
            id="an alias of itself",
        ),
        pytest.param("version: 1\n---\nversion: 1\n", "2:1: this is no YAML", "as one, without `---`", id="documents"),
        pytest.param(
            "version: 1\ninclude: rules.yaml\n", "2:10: `rules.yaml` includes itself", "leave it out", id="self"
        ),
        pytest.param(
            "version: 1\nconstraints:\n- {name: a, rule: G !@w}\n",
            "unknown group `@w`",
            "define it under `groups`",
            id="no-groups",
        ),
        pytest.param("version: 1\n\tgroups: {}\n", "2:1: this is no YAML", "indent with spaces", id="tab"),
    ],
)
def test_what_is_wrong_and_where(tmp_path: Path, text: str, place: str, words: str) -> None:
    said = complaint(tmp_path, text)
    assert place in said
    assert words in said


@pytest.mark.parametrize(
    ("written", "line", "column"),
    [
        ("G !pay ) x", 4, 18),
        ("'G !pay ) x'", 4, 19),
        ('"G !pay ) x"', 4, 19),
        ('"G \\x21pay ) x"', 4, 22),
        ("'G (a -> b(k = \"it''s\")) ) x'", 4, 36),
        ("|-\n      G !pay ) x", 5, 14),
        ("|2-  # keep\n      G !pay ) x", 5, 14),
        ("|-\n      G (a ->\n        # why\n        b ) ) x", 7, 13),
        (">-\n      G (a ->\n      b ) ) x", 6, 11),
        ("G (a\n      -> b ) ) x", 5, 14),
    ],
)
def test_the_caret_stands_under_the_place_in_the_yaml(tmp_path: Path, written: str, line: int, column: int) -> None:
    said = complaint(tmp_path, rule(written)).split("\n")
    assert said[0].startswith(f"rules.yaml:{line}:{column}: ")
    assert said[1][said[2].index("^")] == ")"


def test_an_unknown_group_in_a_rule(tmp_path: Path) -> None:
    text = "version: 1\ngroups: {writes: [x]}\nconstraints:\n  - name: r\n    rule: |-\n      G !@write\n"
    said = complaint(tmp_path, text)
    assert said.startswith("rules.yaml:6:10: unknown group `@write`\n          G !@write\n             ^^^^^^")
    assert "did you mean `@writes`?" in said


def test_the_caret_with_windows_line_ends(tmp_path: Path) -> None:
    said = complaint(tmp_path, rule("|-\n      G !pay ) x").replace("\n", "\r\n"))
    assert said.startswith("rules.yaml:5:14: ")
    assert "\r" not in said


def test_a_byte_order_mark_is_no_character(tmp_path: Path) -> None:
    path = write(tmp_path, "version: 2\n")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    with pytest.raises(RuleFileError, match=r":1:10: unknown version"):
        load_rules(path)


@pytest.mark.parametrize(
    ("written", "column", "words"),
    [
        ("!b W a", 11, "begins with `!`"),
        ("! fetch", 11, "begins with `!`"),
        ("!(a & b) W c", 11, "begins with `!`"),
        ("!F pay", 11, "begins with `!`"),
        ("*[failed] -> F b", 11, "begins with `*`"),
        ("* -> F a", 11, "begins with `*`"),
        ("*(x = 1)", 11, "begins with `*`"),
        ("@writes -> F b", 11, "begins with `@`"),
        ('"pay-now"(amount > 0)', 11, 'begins with `"`'),
        ('"a" -> F b', 11, 'begins with `"`'),
        ('G !send(subject = "Re: x")', 32, "`: `"),
        ("G (a -> b):", 21, "`: `"),
        ('G !send(subject = "a #b")', 32, "` #`"),
        ("true", 11, "as true or false"),
        ("null", 11, "as nothing"),
        ("", 5, "the rule is empty"),
        ("12", 11, "as a number"),
        ("[a, b]", 11, "as a list"),
    ],
)
def test_what_yaml_trips_over(tmp_path: Path, written: str, column: int, words: str) -> None:
    said = complaint(tmp_path, rule(written))
    assert said.startswith(f"rules.yaml:4:{column}: ")
    assert words in said
    assert "`rule: |-`" in said


@pytest.mark.parametrize(
    "written", ["!b W a", "*[failed] -> F b", '"pay-now"(amount > 0)', 'G !s(t = "Re: #1")', "true"]
)
def test_behind_a_bar_yaml_leaves_a_rule_alone(tmp_path: Path, written: str) -> None:
    read = load(tmp_path, rule(f"|-\n      {written}"))
    assert read.constraints[0].formula == parse(written)


def test_a_comment_behind_a_rule_is_one(tmp_path: Path) -> None:
    assert load(tmp_path, rule("G !pay  # never")).constraints[0].formula == parse("G !pay")


def test_a_comment_is_not_blamed_for_another_mistake(tmp_path: Path) -> None:
    assert complaint(tmp_path, rule("G !pay ) x  # never")).startswith("rules.yaml:4:18: `)`")


def test_a_tool_name_whose_quotes_yaml_takes(tmp_path: Path) -> None:
    said = complaint(tmp_path, rule('"pay-now"'))
    assert said.startswith("rules.yaml:4:12: `pay-now`")
    assert "YAML has taken the quotes away" in said
    assert "taken" not in complaint(tmp_path, rule('"G !pay ) x"'))


def test_a_glob_that_begins_with_a_star_is_quoted(tmp_path: Path) -> None:
    said = complaint(tmp_path, "version: 1\ngroups:\n  all: [*_order]\n")
    assert said.startswith("rules.yaml:3:9: ")
    assert "quotes" in said
    read = load(tmp_path, 'version: 1\ngroups:\n  all: ["*_order"]\n')
    assert read.groups == {"all": ("*_order",)}


def test_included_files_come_first_and_bring_their_groups(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    write(tmp_path, "version: 1\ngroups: {w: [x, y]}\nconstraints:\n  - {name: one, rule: G !a}\n", "shared/base.yaml")
    write(tmp_path, "version: 1\ninclude: base.yaml\n", "shared/more.yaml")
    text = "version: 1\ninclude: [shared/base.yaml, shared/more.yaml]\nconstraints:\n  - {name: two, rule: 'G !@w'}\n"
    read = load(tmp_path, text)
    assert [c.name for c in read.constraints] == ["one", "two"]
    assert read.constraints[1].formula == parse("G !@w", {"w": ["x", "y"]})


def test_what_can_be_wrong_with_an_include(tmp_path: Path) -> None:
    write(tmp_path, "version: 1\ninclude: rules.yaml\n", "a.yaml")
    assert complaint(tmp_path, "version: 1\ninclude: a.yaml\n").startswith("a.yaml:2:10: `rules.yaml` includes itself")
    assert complaint(tmp_path, "version: 1\ninclude: rules.yaml\n").startswith("rules.yaml:2:10: ")
    assert complaint(tmp_path, "version: 1\ninclude: [b.yaml]\n").startswith(
        "rules.yaml:2:11: there is no file `b.yaml`"
    )
    assert "a path, or a list of paths" in complaint(tmp_path, "version: 1\ninclude: 3\n")
    write(tmp_path, "version: 1\ngroups: {w: [x]}\nconstraints:\n  - {name: one, rule: G !a}\n", "c.yaml")
    twice = complaint(tmp_path, "version: 1\ninclude: c.yaml\nconstraints:\n  - {name: one, rule: G !a}\n")
    assert twice.startswith("rules.yaml:4:12: two constraints are named `one`")
    assert "c.yaml:4" in twice
    other = complaint(tmp_path, "version: 1\ninclude: c.yaml\ngroups: {w: [z]}\n")
    assert other.startswith("rules.yaml:3:10: the group `w` is defined twice")
    write(tmp_path, "version: 1\nconstraints:\n  - {name: one, rule: G !!}\n", "d.yaml")
    assert complaint(tmp_path, "version: 1\ninclude: d.yaml\n").startswith("d.yaml:3:")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RuleFileError, match="there is no file"):
        load_rules(tmp_path / "none.yaml")
    with pytest.raises(RuleFileError, match="a rule itself goes into a list"):
        load_rules("G (pay -> O read)")
    with pytest.raises(RuleFileError, match="cannot be read"):
        load_rules(tmp_path)
    (tmp_path / "latin.yaml").write_bytes("version: 1 # é".encode("latin-1"))
    with pytest.raises(RuleFileError, match="no UTF-8 text"):
        load_rules(tmp_path / "latin.yaml")
    (tmp_path / "zero.yaml").write_bytes(b"version: 1\n# \0\n")
    with pytest.raises(RuleFileError, match=r"zero.yaml:2:3: "):
        load_rules(tmp_path / "zero.yaml")


def test_the_schema_that_ships_is_current() -> None:
    assert shipped() == schema(), "write it again with: python -m agentltl.constraints.rule_files.rule_schema"


def test_the_schema_says_what_a_good_file_is() -> None:
    import yaml

    read = json.loads(shipped())
    jsonschema.Draft202012Validator.check_schema(read)
    jsonschema.validate(yaml.safe_load(GOOD), read)
    for wrong in ("version: 2", "version: 1\nx: 1", "version: 1\nconstraints: [{name: a}]"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(yaml.safe_load(wrong), read)
