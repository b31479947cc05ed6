"""The drop-in for smolagents' `ToolCallingAgent`: the same agent, and a constraint that stops the run.

The model is scripted, so the example runs without a network; any smolagents model takes its place.
"""

from smolagents import LogLevel, tool

from agentltl import ConstraintViolationError, ToolCallingAgentWithConstraints
from agentltl.agents.models.scripted import ScriptedModel


@tool
def get_balance(account: str) -> float:
    """Look up the balance of an account.

    Args:
        account: The account's name.
    """
    return 500.0


@tool
def send_money(to: str, amount: float) -> str:
    """Send money.

    Args:
        to: The account that gets it.
        amount: The amount in euros.
    """
    return f"{amount:g} euros sent to {to}"


RULES = [
    {
        "name": "small-sums",
        "rule": "G (send_money -> sum(send_money, amount) <= 300)",
        "severity": "HARD_STOP",
        "description": "One run sends at most 300 euros",
    },
    {
        "name": "look-first",
        "rule": "precedence(get_balance, send_money)",
        "severity": "PERSISTENT_BLOCK",
        "repair": "Call get_balance first.",
    },
]


def main() -> None:
    model = ScriptedModel(
        [
            ("send_money", {"to": "ana", "amount": 200.0}),
            ("get_balance", {"account": "mine"}),
            ("send_money", {"to": "ana", "amount": 200.0}),
            ("send_money", {"to": "ben", "amount": 200.0}),
            ("final_answer", {"answer": "never reached"}),
        ]
    )
    agent = ToolCallingAgentWithConstraints(
        [get_balance, send_money], model, constraints=RULES, verbosity_level=LogLevel.OFF
    )
    try:
        agent.run("Send ana and ben 200 euros each.")
    except ConstraintViolationError as error:
        print(error)
    status = agent.get_constraint_status()
    print(status["status"], "by", status["stopped_by"])
    for violation in status["violations"]:
        print(f"step {violation['step_number']}: {violation['constraint_name']} ({violation['severity']})")
    print("ran:", [call["tool_name"] for call in status["completed_trace"]])


if __name__ == "__main__":
    main()
