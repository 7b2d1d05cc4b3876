"""Where printed numbers come from: the command line, and the files that it read."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._cli.stdin import STDIN, path_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from exactk._cli.stdin import StandardInput


class Input(NamedTuple):
    """A file that a command reads."""

    argument: str
    path: Path
    system: str | None = None  # of predictions

    def to_dict(self, stdin: StandardInput) -> dict[str, Any]:
        """Return the file with its digest, None if it cannot be read again, such as a pipe."""
        digest = None
        if self.path == STDIN:
            digest = stdin.sha256
        elif self.path.is_file():
            with self.path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return {"argument": self.argument, "system": self.system, "path": path_text(self.path), "sha256": digest}


class Provenance(NamedTuple):
    """A command line and its inputs."""

    command: Sequence[str]
    inputs: Sequence[Input]
    stdin: StandardInput
