"""Recordings of the local model: HTTP as it happened, kept in the package and replayed with the network shut.

A recording is asked for by method and path, in order: the wording of a refusal is part of the next request, so its
body may differ. Of a request nothing is kept but these and two headers: no body, no key, no host, no port.
An `exact` recording keeps a digest of what the model was asked, too, and answers nothing else.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from agentltl.agents.models.local import LocalModel
from agentltl.agents.models.server import Server
from agentltl.errors import MissingExtraError

CASSETTES = Path(__file__).with_name("cassettes")
KEPT_HEADERS = {"accept", "content-type"}
NOWHERE = Server(url="http://model.invalid/v1", key="replayed", handle=None)
"""The server of a replay: nothing listens there, and the name can never be looked up."""


def settings(*, exact: bool = False) -> dict[str, Any]:
    """How recordings are written and matched, as keywords for vcrpy's `VCR`."""
    return {
        "match_on": ["method", "path", "body"] if exact else ["method", "path"],
        "decode_compressed_response": True,
        "before_record_request": _exact_request if exact else _clean_request,
        "before_record_response": _clean_response,
    }


def cassette(task: str, *, guarded: bool) -> Path:
    """The file of a task's recording."""
    return CASSETTES / f"{task}-{'guarded' if guarded else 'unguarded'}.yaml"


@contextmanager
def replayed(path: Path, *, exact: bool = False) -> Iterator[LocalModel]:
    """A model that answers from a recording; a request that is not in it is an error and never traffic."""
    with _recorder(exact).use_cassette(str(path), record_mode="none"):
        yield LocalModel(server=NOWHERE)


@contextmanager
def recorded(path: Path, model: LocalModel, *, exact: bool = False) -> Iterator[LocalModel]:
    """The model, with everything it says written to a new recording."""
    path.unlink(missing_ok=True)
    with _recorder(exact).use_cassette(str(path), record_mode="new_episodes"):
        yield model


def _recorder(exact: bool) -> Any:
    try:
        import vcr
    except ImportError as error:
        raise MissingExtraError("replaying a recording", "demo") from error
    return vcr.VCR(**settings(exact=exact))


def _clean_request(request: Any) -> Any:
    request.uri = f"http://model.invalid{urlsplit(request.uri).path}"
    request.body = None
    for name in list(request.headers):
        if name.lower() not in KEPT_HEADERS:
            del request.headers[name]
    return request


def _exact_request(request: Any) -> Any:
    asked = json.loads(request.body or b"{}")
    request = _clean_request(request)
    if "sha256" not in asked:  # what is read from a recording has its digest already
        told = json.dumps([asked.get("messages"), asked.get("response_format")], sort_keys=True)
        asked = {"sha256": hashlib.sha256(told.encode()).hexdigest()}
    request.body = json.dumps(asked)
    return request


def _clean_response(response: dict[str, Any]) -> dict[str, Any]:
    headers = response["headers"]
    return {**response, "headers": {name: headers[name] for name in headers if name.lower() in KEPT_HEADERS}}
