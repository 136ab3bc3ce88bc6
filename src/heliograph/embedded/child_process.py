"""A child process that cannot outlive us, however we end.

    we ── write end of a pipe ──► keeper (sh) ──┬── the program (java)
                                                └── watcher (sh): reads the pipe, nothing else

We never write. When this process ends, by exit, crash or SIGKILL, the kernel closes the write end,
the watcher's read returns, and it kills the program. When the program ends by itself, the keeper
ends the watcher and exits with the program's exit code, so nothing is left either way.

The write end must exist in this process only, or the pipe would stay open: Python's pipes are
close-on-exec (PEP 446), and processes forked without exec close it in `_close_in_forked_child`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import weakref
from collections.abc import Sequence
from pathlib import Path

# $1: folder to remove if we die ("" for none), $2: file for the program's output, $3…: the program.
# The watcher ignores SIGTERM once it acts, so that its exit code tells the keeper who ended whom.
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

_kept: weakref.WeakSet[KeptProcess] = weakref.WeakSet()


class KeptProcess:
    """A running program under a keeper. `scratch` is removed if we die before the program does."""

    def __init__(self, command: Sequence[str], *, output: Path, scratch: Path | None) -> None:
        # A session of its own: Ctrl-C in our terminal must not reach it before we have acted on it.
        self._keeper = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT, "keeper", str(scratch or ""), str(output), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        self._hold = self._keeper.stdin
        with self._keeper.stdout as stdout:
            self.pid = int(stdout.readline())
        _kept.add(self)

    @property
    def exit_code(self) -> int | None:
        """None while it runs; 128 + n after signal n, as the shell has it."""
        code = self._keeper.poll()
        if code is not None:
            self._hold.close()
        return code

    def terminate(self) -> None:
        """SIGTERM: a broker hands over its partitions and closes its logs."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL, as a crash would have it."""
        self._signal(signal.SIGKILL)

    def wait(self, timeout_seconds: float) -> bool:
        """True when it has ended within the time."""
        try:
            self._keeper.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            return False
        self._hold.close()
        return True

    def _signal(self, number: signal.Signals) -> None:
        # While the keeper runs, the program is its child and its pid cannot be anyone else's, but
        # for the moment between the keeper's `wait` and its exit.
        if self._keeper.poll() is None:
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                self._keeper.wait()

    def let_go(self) -> None:
        """Closes our end of the pipe in a forked child, where it would only keep the pipe open."""
        self._hold.close()


def _close_in_forked_child() -> None:
    for process in list(_kept):
        process.let_go()


os.register_at_fork(after_in_child=_close_in_forked_child)
