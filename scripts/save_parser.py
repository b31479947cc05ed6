"""Save the parser of the rule language beside its grammar, so that no process has to make it anew.

Run it when the grammar, a table of operators or patterns, or the locked release of lark has changed; a test says when.
"""

from pathlib import Path

from agentltl.constraints import language
from agentltl.constraints.language.parser import SHIPPED, fits, grammar, save


def main() -> None:
    path = Path(language.__path__[0]) / SHIPPED
    text = grammar()
    if path.exists() and fits(path.read_bytes(), text):
        print(f"{path.name} is up to date")
        return
    path.write_bytes(save(text))
    print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
