"""The embedded llama.cpp server: one per model file and process, on loopback, behind a key made for this process.

It speaks the OpenAI chat protocol, so the same request serves a live run, a recording and its replay.
"""

import importlib
import os
import secrets
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentltl.errors import MissingExtraError

CONTEXT = 8192
"""Tokens of context: an agent of a dozen steps fits, and the cache of keys and values stays near 250 MB."""

_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: `url` ends in `/v1`; `key` goes into the `Authorization` header and is never shown."""

    url: str
    key: str = field(repr=False)
    handle: object = field(repr=False, compare=False)


_running: dict[str, Server] = {}


def serve(path: Path, name: str) -> Server:
    """The server for a model file, started at the first call and shared by everything in the process.

    Raises `MissingExtraError` without the extra `local`, `RuntimeError` when llama.cpp cannot load the file.
    """
    with _lock:
        if (running := _running.get(str(path))) is not None:
            return running
        server = _running[str(path)] = _start(path, name)
        return server


def engine() -> Any:
    """The module of llama.cpp. Raises `MissingExtraError` without the extra `local`."""
    # Threads that spin while they wait starve everything else on a busy machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        return importlib.import_module("xllamacpp")
    except ImportError as error:
        raise MissingExtraError("the embedded local model", "local") from error


def _start(path: Path, name: str) -> Server:
    xllamacpp = engine()
    key = secrets.token_urlsafe(24)
    handle = xllamacpp.Server(_settings(xllamacpp.CommonParams(), path, name, key))
    return Server(url=f"{handle.listening_address}/v1", key=key, handle=handle)


def _settings(settings: Any, path: Path, name: str, key: str) -> Any:
    settings.model.path = str(path)
    settings.model_alias = {name}
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.api_keys = [key]
    settings.n_ctx = CONTEXT
    settings.n_parallel = 1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = max(1, os.cpu_count() or 1)
    settings.cache_ram_mib = 0
    settings.fit_params = False
    settings.ui = False
    settings.endpoint_slots = False
    settings.offline = True
    settings.verbosity = -1
    return settings
