"""The text and the thinking of a model's message, whose content is a text, a list of blocks, or nothing.

Thinking comes between think tags in the text or as blocks of its own; the text keeps its tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_THINKING = frozenset({"thinking", "reasoning"})
_BLOCKS = _THINKING | {"text", "output_text", "redacted_thinking"}
_KEYS = ("thinking", "reasoning", "text", "content", "summary")

# Some chat templates open the tag in the prompt, so that the reply has the closing one alone;
# a reply that was cut has the opening one alone.
_TAGS = re.compile(r"<think>(?P<inside>.*?)(?:</think>|\Z)|\A(?P<opened>(?:(?!<think>).)*?)</think>", re.DOTALL)


def is_blocks(value: object) -> bool:
    """Whether a value is a message's content in blocks: texts and thinking, at least one."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(b, Mapping) and b.get("type") in _BLOCKS for b in value)
    )


def text_of(content: object) -> str | None:
    """The text of a content: what its blocks have of text is joined by newlines; None for no content."""
    if content is None or isinstance(content, str):
        return None if content is None else str(content)
    if not isinstance(content, list):
        return str(content)
    parts = (b.get("text") if isinstance(b, Mapping) and b.get("type") not in _THINKING else b for b in content)
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts) if texts else None


def thinking_of(content: object) -> str | None:
    """The thinking in a content: structured blocks first, then what stands between think tags; None for none."""
    if content is None or (isinstance(content, str) and "think>" not in content):
        return None
    parts = [*_from_blocks(content), *_from_tags(text_of(content) or "")]
    return "\n".join(parts) or None


def _from_blocks(content: object) -> Iterator[str]:
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Mapping) and block.get("type") in _THINKING:
            yield from _strings(next((block[k] for k in _KEYS if block.get(k)), None))


def _strings(value: object) -> Iterator[str]:
    """The texts of a thinking block's value: a text, or a list of texts or of blocks with a text."""
    if isinstance(value, str) and value.strip():
        yield value.strip()
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part.get("text") if isinstance(part, Mapping) else part)


def _from_tags(text: str) -> Iterator[str]:
    if "think>" not in text:
        return
    for found in _TAGS.finditer(text):
        inside = (found["inside"] or found["opened"] or "").strip()
        if inside:
            yield inside
