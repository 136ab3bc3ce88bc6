"""Drops all packets between two sets of processes on this machine; neither side gets an error.

A socket filter that accepts nothing is attached to the sockets of other processes (pidfd_getfd, Linux 5.6).
The kernel then drops arriving packets before they are acknowledged, as a dead network does, and SYNs to a
listening socket as well. That needs neither netfilter nor a network namespace, but the right to trace the
processes (root).
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import psutil

from chaos.errors import ChaosError

_PIDFD_GETFD = 438  # the same on all architectures
_SO_ATTACH_FILTER = 26
_SO_DETACH_FILTER = 27
_RETURN = 0x06  # BPF_RET | BPF_K, with 0: keep no byte of any packet
_LISTEN = psutil.CONN_LISTEN

_libc = ctypes.CDLL(None, use_errno=True)
#: struct sock_filter; the kernel copies it when it is attached.
_NOTHING = ctypes.create_string_buffer(struct.pack("HBBI", _RETURN, 0, 0, 0))


class Blackhole:
    """Until the block ends. `sockets`: the number of sockets with a filter."""

    def __init__(self, here: Iterable[psutil.Process], there: Iterable[psutil.Process]) -> None:
        self._sides = (list(here), list(there))
        self._ports: set[int] = set()
        self.sockets = 0

    def __enter__(self) -> Blackhole:
        here, there = self._sides
        self._ports = _ports(here) | _ports(there)
        self.sockets = self._each(_attach)
        if not self.sockets:
            raise ChaosError("blackhole: the processes have no sockets to cut")
        return self

    def __exit__(self, *_: object) -> None:
        self._each(_detach)

    def _each(self, do: Callable[[socket.socket], None]) -> int:
        """Applies `do` to every socket that listens on one of the ports or has it at either end; returns the
        count."""
        count = 0
        for process in (process for side in self._sides for process in side):
            for found in _connections(process):
                ports = {found.laddr.port} | ({found.raddr.port} if found.raddr else set())
                if ports & self._ports:
                    with _borrowed(process.pid, found.fd) as borrowed:
                        if borrowed is not None:
                            do(borrowed)
                            count += 1
        return count


def _ports(side: Iterable[psutil.Process]) -> set[int]:
    """Ports on which a side listens for the other; without those that its own processes connect to."""
    found = [each for process in side for each in _connections(process)]
    own = {each.raddr.port for each in found if each.raddr}
    return {each.laddr.port for each in found if each.status == _LISTEN} - own


def _connections(process: psutil.Process) -> list[Any]:
    try:
        return process.net_connections("tcp")
    except psutil.NoSuchProcess:
        return []


@contextmanager
def _borrowed(pid: int, fd: int) -> Iterator[socket.socket | None]:
    """A duplicate of another process's socket, which stays open as long as the duplicate. None if it is
    closed."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        yield None
        return
    try:
        number = _libc.syscall(_PIDFD_GETFD, process, fd, 0)
    finally:
        os.close(process)
    if number < 0:
        error = ctypes.get_errno()
        if error == 1:
            raise ChaosError(
                "blackhole: not allowed to duplicate sockets of other processes; run as root"
            )
        yield None
        return
    with socket.socket(fileno=number) as borrowed:
        yield borrowed


def _attach(borrowed: socket.socket) -> None:
    program = struct.pack("HL", 1, ctypes.addressof(_NOTHING))
    borrowed.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)


def _detach(borrowed: socket.socket) -> None:
    try:
        borrowed.setsockopt(socket.SOL_SOCKET, _SO_DETACH_FILTER, struct.pack("i", 0))
    except FileNotFoundError:
        return  # opened after the filter was attached
