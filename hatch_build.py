"""Wheels contain kernels that are compiled when they are built, so that the first fit need not wait for them."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# If this environment variable is "all", the kernels of all methods are compiled, as for wheels that are published. To
# build a wheel without kernels, for all platforms, set HATCH_BUILD_NO_HOOKS to "true".
VARIABLE = "SPARSECLUSTER_KERNELS"


class CompiledKernels(BuildHookInterface):
    """Adds compiled kernels to a wheel, which is then for one version of Python and one platform.

    They are a cache: a wheel without them works as well, so what keeps them from being compiled is a warning only.
    """

    folder = None

    def initialize(self, version, build_data):
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root, "tools")))
        try:
            from compile_kernels import ALL, BASIC, compile_into

            self.app.display_info("Compiling kernels, so that the first fit need not wait for them")
            self.folder = tempfile.mkdtemp()
            count = compile_into(Path(self.folder, "compiled"), ALL if os.environ.get(VARIABLE) == "all" else BASIC)
        except Exception as error:
            self.app.display_warning(f"The wheel has no compiled kernels, and the first fit will compile them: {error}")
            return
        if count:
            build_data["force_include"][f"{self.folder}/compiled"] = "sparsecluster/_kernels/compiled"
            build_data["tag"] = wheel_tag()

    def finalize(self, version, build_data, artifact_path):
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def wheel_tag():
    """The tag of a wheel for this version of Python and this platform. Kernels need no library of the system."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if system.startswith("linux") and platform.libc_ver()[0] == "glibc":
        system = system.replace("linux", "manylinux_2_17", 1)
    elif system.startswith("macosx"):
        system = f"macosx_11_0_{platform.machine()}"
    return f"{python}-none-{system}"
