"""Writing files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write(file: Path, content: str | bytes) -> Path:
    """Write to a temporary name in the same folder and move it, so that no half of a file is ever seen."""
    file.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}-", suffix=".part", delete=False) as part:
        try:
            part.write(data)
        except BaseException:
            part.close()
            os.unlink(part.name)
            raise
    mode = 0o666 & ~_umask()
    os.chmod(part.name, mode)
    os.replace(part.name, file)
    return file


def _umask() -> int:
    """The user's mask of permissions, which temporary files ignore."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
