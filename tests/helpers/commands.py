"""The command in a process of its own, forked from one that has loaded the libraries, which takes seconds."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile

# The child has the streams, the folder and the arguments that it was sent, and ends as any program does.
NURSERY = """
import gc, json, os, runpy, socket, sys
import matplotlib, numba, pandas, scipy.stats, sklearn.cluster
import sparsecluster.cli, sparsecluster.evidence, sparsecluster.inspection, sparsecluster.io, sparsecluster.report
from sparsecluster import *
gc.freeze()
channel = socket.socket(fileno=int(sys.argv[1]))
while True:
    asked, streams, *_ = socket.recv_fds(channel, 65536, 2)
    if not asked:
        os._exit(0)
    child = os.fork()
    if not child:
        break
    for each in streams:
        os.close(each)
    channel.sendall(b"%d\\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
channel.close()
for number, each in enumerate(streams, 1):
    os.dup2(each, number)
    os.close(each)
folder, sys.argv[1:] = json.loads(asked)
os.chdir(folder)
runpy.run_module("sparsecluster", run_name="__main__", alter_sys=True)
"""


class Nursery:
    """A process that waits for commands, and has a child run each of them."""

    def __init__(self):
        self.channel, other = socket.socketpair()
        with other:
            # Python asks when it begins whether one can seek in its streams. In pipes, as in all that matters here, no.
            self.process = subprocess.Popen(
                [sys.executable, "-c", NURSERY, str(other.fileno())],
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        self.answers = self.channel.makefile()

    def run(self, *arguments, cwd, stdout=None, stderr=None):
        """Run a command to its end; what goes to no descriptor that is given is returned as text."""
        asked = json.dumps([str(cwd), [*map(str, arguments)]]).encode()
        with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as told:
            streams = [stdout or printed.fileno(), stderr or told.fileno()]
            socket.send_fds(self.channel, [asked], streams)
            code = int(self.answers.readline())
            texts = (os.pread(each.fileno(), 2**20, 0).decode() for each in (printed, told))
            return subprocess.CompletedProcess(arguments, code, *texts)

    def close(self):
        self.answers.close()
        self.channel.close()
        self.process.communicate(timeout=30)
