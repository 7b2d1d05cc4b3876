"""What the command line prints, for the pages: recorded anew whenever the page is generated or compared."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path


def session(files: Mapping[str, str], commands: Sequence[str]) -> str:
    """Return the commands, each after a prompt and with what it prints, in a folder with these files."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        for command in commands:
            process = subprocess.run(  # noqa: S603 - our own commands
                [sys.executable, "-m", *shlex.split(command)],
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            lines.append(f"$ {command}\n{process.stdout}")
            if process.returncode:
                lines.append(f"exit code {process.returncode}\n")
    return "".join(lines).rstrip("\n")
