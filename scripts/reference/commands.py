"""The page of commands: the help of each, as it prints it."""

from __future__ import annotations

import typer.main

from agentltl.cli import main
from reference.markdown import NOTE, fenced

INTRO = "# Commands\n\nEvery command shows this text with `--help`.\n"


def page() -> str:
    """The text of the page."""
    group = typer.main.get_command(main)
    assert hasattr(group, "commands")
    parts = [NOTE, INTRO]
    for name, command in group.commands.items():
        parent = group.context_class(group, info_name="agentltl", terminal_width=100, **group.context_settings)
        context = command.context_class(command, parent=parent, info_name=name)
        parts.append(f"\n## `agentltl {name}`\n\n" + fenced(command.get_help(context), "text"))
    return "".join(parts)
