"""Writing files completely or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write(file: Path, content: str | bytes) -> Path:
    """Write a file under a temporary name in the same folder and rename it, so that nobody ever sees half a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    part = file.with_name(f".{file.name}-{secrets.token_hex(4)}.part")
    try:
        # A file created by `open`, unlike one from `tempfile`, gets the user's default permissions.
        with part.open("xb") as new:
            new.write(data)
        os.replace(part, file)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    return file
