"""Loggers that log no key: those of the clients of models, which log requests and responses."""

import logging

from agentltl.agents.models.hidden_error import hide_in_error
from agentltl.agents.models.redaction import hide, known_secrets

LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai._base_client", "httpx", "httpcore.http11")


def hide_in_logs() -> None:
    """Hide every key that is known by then in what these loggers log, errors included."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(without_keys)  # a second time it changes nothing


def without_keys(record: logging.LogRecord) -> bool:
    """Hide keys in a record; it is a filter that lets everything pass."""
    secrets = known_secrets()
    try:
        text = record.getMessage()
    except Exception:  # the handlers say what is wrong with such a record
        return True
    if (hidden := hide(text, secrets)) != text:
        record.msg, record.args = hidden, ()
    if record.exc_info and record.exc_info[1] is not None:
        hide_in_error(record.exc_info[1], secrets)
    return True
