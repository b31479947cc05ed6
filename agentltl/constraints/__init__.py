"""First-order linear temporal logic on finite traces of tool calls: formulas, traces, constraints and their judges.

Every public name is found here and loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentltl.constraints.batch import Batch as Batch
    from agentltl.constraints.batch import encode as encode
    from agentltl.constraints.batch import verify_batch as verify_batch
    from agentltl.constraints.compare import Var as Var
    from agentltl.constraints.constraint import Constraint as Constraint
    from agentltl.constraints.constructors import *  # noqa: F403
    from agentltl.constraints.formula import Formula as Formula
    from agentltl.constraints.judging import TraceResult as TraceResult
    from agentltl.constraints.limits import Limits as Limits
    from agentltl.constraints.linting.finding import Finding as Finding
    from agentltl.constraints.linting.finding import FindingKind as FindingKind
    from agentltl.constraints.linting.lint import lint as lint
    from agentltl.constraints.many import verify_many as verify_many
    from agentltl.constraints.monitor import Monitor as Monitor
    from agentltl.constraints.pattern_constructors import *  # noqa: F403
    from agentltl.constraints.predicates import register_domain as register_domain
    from agentltl.constraints.predicates import register_predicate as register_predicate
    from agentltl.constraints.rule_file import RuleFile as RuleFile
    from agentltl.constraints.rule_file import load_rules as load_rules
    from agentltl.constraints.semantics import holds as holds
    from agentltl.constraints.stream import Breach as Breach
    from agentltl.constraints.stream import judge_stream as judge_stream
    from agentltl.constraints.text import parse as parse
    from agentltl.constraints.trace import Call as Call
    from agentltl.constraints.trace import Message as Message
    from agentltl.constraints.trace import Outcome as Outcome
    from agentltl.constraints.trace import Position as Position
    from agentltl.constraints.trace import Trace as Trace
    from agentltl.constraints.verdict import Truth as Truth
    from agentltl.constraints.verdict import Verdict as Verdict
    from agentltl.constraints.verify import verify_trace as verify_trace

_HOMES = {
    "constraint": ("Constraint",),
    "compare": ("Var",),
    "constructors": (
        "And", "AtPosition", "Eventually", "Exists", "ForAll", "Globally", "Historically", "Iff", "Implies", "Next",
        "Not", "Once", "Or", "Predicate", "Previous", "Release", "Since", "StrongRelease", "StrongTriggered",
        "Triggered", "Until", "WeakNext", "WeakPrevious", "WeakSince", "WeakUntil",
    ),
    "batch": ("Batch", "encode", "verify_batch"),
    "formula": ("Formula",),
    "judging": ("TraceResult",),
    "many": ("verify_many",),
    "stream": ("Breach", "judge_stream"),
    "limits": ("Limits",),
    "linting.finding": ("Finding", "FindingKind"),
    "linting.lint": ("lint",),
    "monitor": ("Monitor",),
    "pattern_constructors": (
        "Absence", "After", "AllBefore", "AlternatePrecedence", "AlternateResponse", "Arg", "AtMost", "AtMostOnce",
        "Before", "Between", "BranchCalled", "Called", "CalledInOrder", "CalledNTimes", "CalledWith",
        "CalledWithResult", "ChainPrecedence", "ChainResponse", "Choice", "Coexistence", "Exactly", "ExclusiveChoice",
        "Existence", "Informed", "Init", "InstanceBefore", "Last", "Never", "NoRepeat", "NotChainSuccession",
        "NotCoexistence", "NotSuccession", "Now", "Precedence", "RespondedExistence", "Response", "Succession",
        "WithinSteps",
    ),
    "predicates": ("register_domain", "register_predicate"),
    "rule_file": ("RuleFile", "load_rules"),
    "semantics": ("holds",),
    "text": ("parse",),
    "trace": ("Call", "Message", "Outcome", "Position", "Trace"),
    "verdict": ("Truth", "Verdict"),
    "verify": ("verify_trace",),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> object:
    if name in _HOME_OF:
        return getattr(import_module(f"agentltl.constraints.{_HOME_OF[name]}"), name)
    raise AttributeError(f"module `agentltl.constraints` has no `{name}`")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
