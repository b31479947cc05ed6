"""A layer imports only what lies to its left, inside functions too."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "agentltl"
LAYERS = ["constraints", "guard", "record", "agents", "server", "cli"]
SHARED = {"errors"}  # below every layer, though it may name a type of one
ABOVE = {"__init__", "__main__", "testing"}  # may see every layer


def part(file: Path) -> str:
    return file.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(file: Path) -> set[str]:
    """The parts of agentltl that `file` imports, wherever in the file: `constraints`, `errors`, ..."""
    here = ("agentltl", *file.relative_to(PACKAGE).parent.parts)
    names: set[tuple[str, ...]] = set()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    if part(file) in SHARED:
        tree.body = [
            node for node in tree.body if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {tuple(alias.name.split(".")) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else ()
            names |= {(*base, *(node.module or "").split(".") * bool(node.module), alias.name) for alias in node.names}
    return {name[1] if len(name) > 1 else "__init__" for name in names if name[0] == "agentltl"}


def test_a_layer_imports_only_leftwards() -> None:
    wrong = []
    for file in sorted(PACKAGE.rglob("*.py")):
        if (own := part(file)) in ABOVE:
            continue
        allowed = SHARED | set(LAYERS[: LAYERS.index(own) + 1] if own in LAYERS else ())
        wrong += [f"{file.relative_to(PACKAGE)} imports {name}" for name in sorted(imported(file) - allowed)]
    assert not wrong, "\n".join(wrong)


def test_every_part_of_the_package_has_its_place() -> None:
    parts = {part(file) for file in PACKAGE.rglob("*.py")}
    assert parts - SHARED - ABOVE <= set(LAYERS)
    assert "constraints" in parts
