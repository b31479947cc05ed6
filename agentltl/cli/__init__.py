"""The command line: one function for each command, which imports what it needs when it is called.

So `agentltl --help` starts at once; the work is in a module of its own for each command.
"""

from typing import Annotated

import typer

from agentltl.cli.demo.tasks import TASKS

main = typer.Typer(
    help="Temporal-logic rules for the tool calls of language-model agents.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

CHECK_HELP = """Judge recorded traces by the rules of a file, call by call.

Every call that breaks a rule is found, and what is still owed when a trace ends.
A trace file holds one JSON trace a line (.jsonl), one document (.json), or either packed with gzip.

\b
Exit codes:
  0  every rule holds
  1  a rule is violated
  2  wrong usage, or a rule file that cannot be loaded
  3  some input could not be read, or a trace lacked what a rule needs; the rest was judged
"""
CHECK_EXAMPLE = """\b
Examples:
  agentltl check rules.yaml runs/monday.jsonl 'runs/archive/*.jsonl.gz'
  agentltl check rules.yaml --explain run.json
  zcat runs.jsonl.gz | agentltl check rules.yaml - --json
"""


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"agentltl {version('agentltl')}")
        raise typer.Exit


@main.callback()
def _agentltl(
    asked: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Temporal-logic rules for the tool calls of language-model agents."""


@main.command("check", help=CHECK_HELP, epilog=CHECK_EXAMPLE)
def _check(
    rules: Annotated[str, typer.Argument(metavar="RULES", help="The rule file, in YAML.")],
    traces: Annotated[
        list[str], typer.Argument(metavar="TRACE", help="Trace files or globs; `-` is standard input, a trace a line.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say for each violation why it is one.")] = False,
) -> None:
    from agentltl.cli.check import check

    raise typer.Exit(check(rules, traces, as_json=as_json, explain=explain))


DEMO_HELP = """Watch a real model at an order desk do harm, and rules that keep it from doing so.

Each task is done twice on a database of its own, without rules and with them, and both runs are shown side by side.
Without an option the model's recorded answers are replayed: nothing is sent, no model is needed.

\b
Exit codes:
  0  the runs are done
  2  wrong usage, or something that a run needs is missing
  3  the model failed in a run
"""
DEMO_EXAMPLE = """\b
Examples:
  agentltl demo
  agentltl demo shipped --live
  agentltl demo --model openai/gpt-4o-mini --keep desk
"""


@main.command(
    "demo", short_help="Watch a real model do harm, and rules prevent it.", help=DEMO_HELP, epilog=DEMO_EXAMPLE
)
def _demo(
    task: Annotated[str | None, typer.Argument(metavar="TASK", help=f"Only this task: {', '.join(TASKS)}.")] = None,
    live: Annotated[bool, typer.Option("--live", help="Run the embedded model (extra `local`).")] = False,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="Run a model that litellm knows by this name; its key is in the environment.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with every run.")] = False,
    keep: Annotated[
        str | None, typer.Option("--keep", metavar="DIR", help="Leave the runs' databases in this folder.")
    ] = None,
) -> None:
    from agentltl.cli.demo.command import demo

    raise typer.Exit(demo(task, live=live, model=model, as_json=as_json, keep=keep))
