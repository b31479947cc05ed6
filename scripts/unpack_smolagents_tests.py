"""Bring smolagents' own tests here, out of its source distribution: `unpack_smolagents_tests.py FOLDER`.

The release and its hash are those of requirements.lock, and pip is the one that asks the registry,
so the tests are those of the very release that is installed and nothing unknown is unpacked.
"""

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

LOCK = Path(__file__).parent.parent / "requirements.lock"


def locked(project: str) -> str:
    """The lines of the lock file that pin `project`, with its hashes."""
    found = re.search(rf"^{project}==.*?(?=^\S|\Z)", LOCK.read_text(), re.MULTILINE | re.DOTALL)
    if found is None:
        sys.exit(f"`{project}` is not in requirements.lock\n  run `make lock`")
    return found.group()


def download(project: str, into: Path) -> Path:
    """Download the source distribution of `project`, its hash checked by pip, and return its path."""
    wanted = into / "wanted.txt"
    wanted.write_text(locked(project))
    # pip asks the build backend for the metadata; without isolation that is the locked setuptools.
    pip = [sys.executable, "-m", "pip", "download", "-qq", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*pip, "--no-build-isolation", "--require-hashes", "-d", into, "-r", wanted], check=True)
    (archive,) = into.glob("*.tar.gz")
    return archive


def unpack(archive: Path, into: Path) -> None:
    """Replace `into` by the `tests` folder of `archive`."""
    with tempfile.TemporaryDirectory() as scratch, tarfile.open(archive) as tar:
        # Set here and not passed to extractall: Python before 3.11.4, which Debian 12 has, knows no filters.
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        tar.extractall(scratch, [m for m in tar if Path(m.name).parts[1:2] == ("tests",)])
        (tests,) = Path(scratch).glob("*/tests")
        shutil.rmtree(into, ignore_errors=True)
        into.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(tests, into)


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        unpack(download("smolagents", Path(scratch)), Path(sys.argv[1]))


if __name__ == "__main__":
    main()
