"""Recorded chats judged and scored: one in the form of OpenAI, one in the form of Anthropic."""

from agentltl import Constraint, Trace, verify_trace

RULES = [
    Constraint("read-first", "G (refund(order_id = ?o) -> O get_order(order_id = ?o)[ok])", weight=2.0),
    Constraint("asked-for", "G (refund -> said(.order_id))"),
    Constraint("not-too-much", "G (refund -> refund(amount <= 100))"),
]

OPENAI = [
    {"role": "user", "content": "Refund order W7, please."},
    {
        "role": "assistant",
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "get_order", "arguments": '{"order_id": "W7"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": '{"paid": 80}'},
    {
        "role": "assistant",
        "tool_calls": [
            {
                "id": "2",
                "type": "function",
                "function": {"name": "refund", "arguments": '{"order_id": "W7", "amount": 80}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "2", "content": "sent"},
]

ANTHROPIC = [
    {"role": "user", "content": "Refund order W7, please."},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I refund it."},
            {"type": "tool_use", "id": "1", "name": "refund", "input": {"order_id": "W8", "amount": 800}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "sent"}]},
]


def main() -> None:
    for name, messages in (("openai", OPENAI), ("anthropic", ANTHROPIC)):
        trace = Trace.from_messages(messages)
        report = verify_trace(trace, RULES)
        print(f"{name}: {trace.events}, score {report['compliance_score']} ({report['compliance_label']})")
        for record in report["constraints"]:
            if not record["passed"]:
                print(f"  {record['name']}: {record['detail']}")


if __name__ == "__main__":
    main()
