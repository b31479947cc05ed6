"""An agent under constraints, the result of its run, and the score of the run under the same constraints.

The model is scripted; `AgentWithConstraints(tools, "openai/gpt-4o", ...)` takes any name that litellm knows.
"""

from smolagents import tool

from agentltl import AgentWithConstraints, Constraint, verify_trace
from agentltl.agents.models.scripted import ScriptedModel


@tool
def fetch() -> str:
    """Fetch the readings."""
    return "[3, null, 5]"


@tool
def clean() -> str:
    """Clean the readings."""
    return "[3, 5]"


@tool
def save() -> str:
    """Save the readings."""
    return "saved"


RULES = [
    Constraint("fetch-before-clean", "before(fetch, clean)", weight=2.0, severity="PERSISTENT_BLOCK"),
    Constraint("clean-before-save", "precedence(clean, save)", severity="TOLERATE"),
    Constraint("save-once", "at_most_once(save)", severity="PERSISTENT_BLOCK", repair="It is saved already. Answer."),
]


def main() -> None:
    model = ScriptedModel(
        [
            [("fetch", {}), ("save", {})],
            ("clean", {}),
            ("save", {}),
            ("final_answer", {"answer": "Saved."}),
        ]
    )
    agent = AgentWithConstraints([fetch, clean, save], model, constraints=RULES)
    result = agent.run("Fetch, clean and save the readings.")

    print(result["answer"], result.success, result["error"])
    print("ran:", [call["name"] for call in result.tool_calls])
    metrics = result["metrics"]
    print(metrics["num_steps"], "steps,", metrics["total_tokens"], "tokens,", metrics["constraint_checks"], "checks")
    for violation in metrics["constraint_violations"]:
        print(f"{violation['severity']} {violation['constraint_name']}: {violation['detail']}")

    report = verify_trace(metrics, RULES)
    print("score:", report["compliance_score"], report["compliance_label"])
    for record in report["constraints"]:
        print(" ", "passed" if record["passed"] else "failed", record["name"], "-", record["detail"])


if __name__ == "__main__":
    main()
