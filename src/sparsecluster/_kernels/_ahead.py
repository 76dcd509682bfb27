"""Kernels that were compiled when the package was built, so that the first fit on a machine need not wait for them.

They are files of Numba's cache in the folder `compiled`. They are made for processors of the last ten years rather than
for one machine, and are used where the version of Numba, the version of Python, the sources of all kernels and the
processor fit. Everywhere else kernels are compiled at their first call, as if the folder were not there.
"""

from __future__ import annotations

import hashlib
import os
import platform
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding
from numba.core import config
from numba.core.caching import FunctionCache, IndexDataCacheFile

HERE = Path(__file__).parent
COMPILED = HERE / "compiled"
# An environment variable that names the folder into which kernels are compiled ahead of time; see
# tools/compile_kernels.py.
VARIABLE = "SPARSECLUSTER_COMPILE_INTO"


class Processor(NamedTuple):
    """What kernels are compiled for: a name that LLVM knows, and the features that a machine must have."""

    name: str
    features: tuple[str, ...] = ()


# By the name of the architecture. x86-64-v3 is what Intel has made since 2013 and AMD since 2015.
ARM = Processor("generic")
X86 = Processor("x86-64-v3", ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "xsave"))
PROCESSORS = {"x86_64": X86, "amd64": X86, "aarch64": ARM, "arm64": ARM}


def processor() -> Processor | None:
    """The processor for which kernels are compiled ahead of time on machines like this one."""
    return PROCESSORS.get(platform.machine().lower())


@cache
def fits_this_machine() -> bool:
    """Whether code for that processor runs here, and the user has not asked Numba for other code."""
    made_for = processor()
    asked = config.CPU_NAME or config.CPU_FEATURES or config.BOUNDSCHECK or config.DEBUGINFO_DEFAULT
    if made_for is None or asked:
        return False
    has = llvmlite.binding.get_host_cpu_features()
    return all(has.get(feature, False) for feature in made_for.features)


@cache
def fingerprint() -> str:
    """A fingerprint of the operating system and of all kernels: each is compiled together with those that it calls."""
    found = hashlib.sha256(f"{platform.system()} {platform.machine()}".encode())
    for file in sorted(HERE.glob("*.py")):
        found.update(file.read_bytes())
    return found.hexdigest()


def compiled(folder: str | Path, name: str) -> IndexDataCacheFile:
    """What was compiled of the kernel with this name from the sources as they are, by the types of its arguments."""
    return IndexDataCacheFile(str(folder), name, fingerprint())


def copy_compiled(source: Path, target: Path) -> None:
    """Add the kernels that were compiled into one folder to those in another one."""
    for file in sorted(source.glob("*.nbi")):
        found, kept = compiled(source, file.stem), compiled(target, file.stem)
        for types in found._load_index():
            kept.save(types, found.load(types))


class KernelCache(FunctionCache):
    """Numba's cache of one kernel, which first looks into the folder of what was compiled ahead of time."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        # Numba compares the file of the kernel alone, but compiled into it are those that it calls, and their options.
        self._cache_file = compiled(self._cache_path, self._impl.filename_base)
        into = os.environ.get(VARIABLE)
        self._is_written = bool(into)
        self._ahead = compiled(into or COMPILED, self._impl.filename_base)

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        if self._is_written:
            return None
        if fits_this_machine():
            # Whatever is wrong with a file, the kernel can be compiled.
            with suppress(Exception):
                data = self._ahead.load(sig)
                if data is not None:
                    return self._impl.rebuild(target_context, data)
        return super()._load_overload(sig, target_context)

    def _save_overload(self, sig: Any, data: Any) -> None:
        if self._is_written:
            if self._impl.check_cachable(data):
                self._ahead.save(sig, self._impl.reduce(data))
        else:
            super()._save_overload(sig, data)
