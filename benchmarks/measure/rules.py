"""The rules that are measured, as text. The workload of `workload.py` satisfies each of them."""

from __future__ import annotations

from itertools import combinations, pairwise
from string import ascii_lowercase

from measure.workload import DOCS, TOOLS

MIX10 = {
    "before": "before(read, write)",
    "at most": "at_most(rollback, 3)",
    "all before": "all_before([lint, typecheck, test], deploy)",
    "since": "G (deploy -> Y (!write S test))",
    "since, far back": "G (deploy -> !(!approve S rollback))",
    "per path": "G (write(path = ?p) -> O read(path = ?p))",
    "past": "G (close_ticket -> O open_ticket)",
    "argument": 'never(deploy(env = "production"))',
    "argument, glob": f'G (fetch -> fetch(url ~ "{DOCS}*"))',
    "response": "G (open_ticket -> F close_ticket)",
}
MIX9 = {name: rule for name, rule in MIX10.items() if name != "response"}
ORDERINGS = tuple(f"before({a}, {b})" for a, b in pairwise(TOOLS))

KINDS = (
    "before(read, write)",
    "precedence(test, deploy)",
    "response(open_ticket, close_ticket)",
    "succession(open_ticket, close_ticket)",
    "alternate_response(open_ticket, close_ticket)",
    "chain_response(lint, typecheck)",
    "alternate_precedence(test, deploy)",
    "chain_precedence(typecheck, test)",
    "not_chain_succession(deploy, write)",
    "not_succession(close_ticket, rollback)",
    "not_coexistence(deploy, rollback)",
    "coexistence(open_ticket, close_ticket)",
    "existence(deploy, 3)",
    "between(fetch, open_ticket, close_ticket)",
    "last(close_ticket)",
    "at_most(deploy, 100000)",
    "called_n(deploy, >= 100000)",
    "G (read -> X (search & X write))",
    "G (read -> N search)",
    "G (open_ticket -> (!deploy U close_ticket))",
    "G (open_ticket -> (!deploy W close_ticket))",
    "G (open_ticket -> (close_ticket R !deploy))",
    "G (open_ticket -> (close_ticket M !deploy))",
    "G (deploy -> Y (!write S test))",
    "G (deploy -> (!rollback B test))",
    "G (deploy -> Z !rollback)",
    "G (deploy -> H !rollback)",
    "G (deploy -> (read T !rollback))",
    "G (fetch -> (open_ticket P !rollback))",
    "G (open_ticket -> F[2] close_ticket)",
    "G (deploy -> G[3] !read)",
    "G (deploy -> O[1] test)",
    "G (deploy -> H[5] !rollback)",
    "G (deploy -> O[60s] test)",
    "G (deploy -> H[60s] !rollback)",
    "G (deploy -> count(deploy, 30) <= 3)",
    "G (deploy -> count(deploy, 25s) <= 3)",
    "G (fetch -> sum(fetch, pages) <= 100000)",
    'G (write -> write(path =~ "^src/"))',
    "G (fetch -> fetch(pages <= 5))",
    'never(deploy(env in ["production", "live"]))',
    "G (deploy -> O test[ok])",
    "never(*[failed])",
)
"""One rule of each kind without variables, facts and predicates."""

PER_VALUE = MIX10["per path"]
ONE_PAST = [("test", "deploy", False)]


def past_rules() -> list[tuple[str, str, bool]]:
    """Fifty rules that past-time monitors of propositions can say: the earlier tool, the later one, and whether the
    earlier call must have come since the last call of the later one."""
    pairs = list(combinations(TOOLS, 2))
    made = [(*pairs[7 * i % len(pairs)], i % 2 == 1) for i in range(len(pairs))]
    return made + [(before, after, not since) for before, after, since in made[:5]]


def past_rule(before: str, after: str, since: bool) -> str:
    """Such a rule as text."""
    return f"G ({after} -> Y (!{after} S {before}))" if since else f"G ({after} -> O {before})"


def fifty() -> list[str]:
    """Fifty distinct rules that the workload touches; every ten in a row are alike."""
    pairs = list(combinations(TOOLS, 2))
    templates = (
        "before({a}, {b})",
        "G ({b} -> O {a}[ok])",
        "G ({b} -> Y (!{b} S {a}))",
        "response({a}, {b})",
        'never({b}(after = "{a}"))',
    )
    made = []
    for i in range(50):
        a, b = pairs[7 * i % len(pairs)]
        made.append(templates[(i + i // len(pairs)) % len(templates)].format(a=a, b=b))
    return made


def untouchable(count: int) -> list[str]:
    """Rules about tools that the workload never calls."""
    templates = ("precedence({a}, {b})", "never({b})", "response({a}, {b})", "at_most({b}, 3)", "G ({b} -> O {a}[ok])")
    return [templates[i % len(templates)].format(a=f"other_{i}", b=f"unused_{i}") for i in range(count)]


def twenty_five(names: str = "tool") -> list[str]:
    """Twenty-five rules over twenty tools, which are named after `names`."""
    tools = [f"{names}_{letter}" for letter in ascii_lowercase[:20]]
    templates = (
        "precedence({a}, {b})",
        "response({a}, {b})",
        "at_most({b}, 1000)",
        "G ({b} -> Y (!{b} S {a}))",
        'G ({b} -> {b}(mode != "force"))',
    )
    return [templates[i % 5].format(a=tools[i % 19], b=tools[(i + 1 + i // 19) % 20]) for i in range(25)]
