"""Writing files whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write(file: Path, content: str | bytes) -> Path:
    """Write to a temporary name in the same folder and move it, so that no half of a file is ever seen."""
    file.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    part = file.with_name(f".{file.name}-{secrets.token_hex(4)}.part")
    try:
        # Opened anew, so that it has the permissions that the user's files have.
        with part.open("xb") as new:
            new.write(data)
        os.replace(part, file)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    return file
