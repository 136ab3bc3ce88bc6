"""Runs a child process that ends when this process ends, however this process ends.

    this process ── write end of a pipe ──► guard (sh) ──┬── the program (java)
                                                         └── watcher (sh): reads the pipe, nothing else

Nothing is ever written to the pipe. When this process ends, by exit, crash or SIGKILL, the kernel closes the
write end, the watcher's read returns, and the watcher kills the program. When the program ends by itself, the
guard ends the watcher and exits with the program's exit code. Either way no process is left.

The write end must exist in this process only, or the pipe would stay open: Python's pipes are close-on-exec
(PEP 446), and a process forked without exec closes it in `_close_in_forked_child`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import weakref
from collections.abc import Sequence
from pathlib import Path

# $1: folder to remove if this process dies ("" for none), $2: file for the program's output, $3…: the
# program. The watcher ignores SIGTERM once it has begun to kill: its exit code tells the guard whether the
# watcher ended the program (0) or the guard ended the watcher.
_SCRIPT = """
scratch=$1 output=$2
shift 2
exec 3<&0
"$@" </dev/null >"$output" 2>&1 3<&- &
program=$!
echo "$program"
exec 1>&- 2>&-
( read -r _; trap '' TERM; kill -KILL "$program"; exit 0 ) <&3 3<&- &
watcher=$!
exec 0<&- 3<&-
wait "$program"
code=$?
kill -TERM "$watcher"
if wait "$watcher" && [ -n "$scratch" ]; then rm -rf -- "$scratch"; fi
exit "$code"
"""

_kept: weakref.WeakSet[ChildProcess] = weakref.WeakSet()


class ChildProcess:
    """A running program. The folder `scratch` is removed if this process dies before the program does."""

    def __init__(self, command: Sequence[str], *, output: Path, scratch: Path | None) -> None:
        # A session of its own: Ctrl-C in the terminal reaches this process only, which then stops the
        # program.
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT, "guard", str(scratch or ""), str(output), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self._guard.stdin is not None
        assert self._guard.stdout is not None
        self._hold = self._guard.stdin
        with self._guard.stdout as stdout:
            self.pid = int(stdout.readline())
        _kept.add(self)

    @property
    def exit_code(self) -> int | None:
        """None while it runs; 128 + n after signal n, as a shell reports it."""
        code = self._guard.poll()
        if code is not None:
            self._hold.close()
        return code

    def terminate(self) -> None:
        """Sends SIGTERM: a broker hands over its partitions and closes its logs."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Sends SIGKILL, as in a crash."""
        self._signal(signal.SIGKILL)

    def wait(self, timeout_seconds: float) -> bool:
        """Whether it ended within the time."""
        try:
            self._guard.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            return False
        self._hold.close()
        return True

    def _signal(self, number: signal.Signals) -> None:
        # While the guard runs, the program is its child and the pid cannot belong to another process, except
        # between the guard's `wait` and its exit.
        if self._guard.poll() is None:
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                self._guard.wait()

    def let_go(self) -> None:
        """Closes the write end in a forked child, where it would keep the pipe open."""
        self._hold.close()


def _close_in_forked_child() -> None:
    for process in list(_kept):
        process.let_go()


os.register_at_fork(after_in_child=_close_in_forked_child)
