"""Parses the broker addresses that `bootstrap.servers` lists."""

from __future__ import annotations

import re

from heliograph.config.options.values import InvalidValue

# org.apache.kafka.common.utils.Utils.HOST_PORT_PATTERN: [protocol://]host:port, [IPv6]:port
_HOST_PORT = re.compile(r"(?:[0-9a-zA-Z\-%._]*://)?(\[[0-9a-zA-Z\-%._:]+\]|[0-9a-zA-Z\-%._]+):(.*)")


def host_port(server: str) -> str:
    """`host:port` without the protocol before it, if any. Raises InvalidValue."""
    match = _HOST_PORT.fullmatch(server)
    if match is None:
        raise InvalidValue("host:port")
    if not re.fullmatch("[0-9]{1,5}", match[2]) or not 0 < int(match[2]) < 65536:
        raise InvalidValue("a port from 1 to 65535")
    return f"{match[1]}:{match[2]}"
