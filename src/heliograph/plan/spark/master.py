"""Reads `--master`, as spark-submit has it: what Spark would find out after a minute is an error at once.

local  local[4]  local[*]          this machine, with Spark's own launcher and configuration
spark://host:7077[,host:7077]      a standalone cluster
yarn                               the cluster that HADOOP_CONF_DIR names
k8s://[https://]host[:port]        the API server of Kubernetes
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from xml.etree import ElementTree

from heliograph.errors import ConfigError

MASTER = "spark.master"
_EXPECTED = "expected local[N], spark://HOST:PORT, yarn or k8s://HOST:PORT"
_LOCAL = re.compile(r"local(\[(\d+|\*)(,\s*(\d+))?\])?")
_CLUSTER_HERE = re.compile(r"local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]")
_HOST_PORT = re.compile(r"([^\s:/@\[\],]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})")
_API_SERVER = re.compile(
    r"k8s://(?:(https?)://)?([^\s:/@\[\],]+|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?/?"
)
_MANAGER_PORT = 8032
_UNSET_HOST = "0.0.0.0"  # Hadoop's default: none is named

Address = tuple[str, int]


class Kind(Enum):
    LOCAL = "local"
    STANDALONE = "standalone"
    YARN = "yarn"
    KUBERNETES = "kubernetes"


@dataclass(frozen=True, slots=True)
class Master:
    """`addresses` are those of a cluster, one of which must answer; YARN's are in its own configuration."""

    url: str
    kind: Kind
    addresses: tuple[Address, ...] = ()


def parse_master(url: str) -> Master:
    """Raises ConfigError."""
    if url.startswith("local"):
        return _local(url)
    if url == "yarn":
        return Master(url, Kind.YARN)
    if url.startswith("spark://"):
        found = [_address(each) for each in url.removeprefix("spark://").split(",")]
        if None in found:
            raise _wrong(url, "expected spark://HOST:PORT[,HOST:PORT], such as spark://spark1:7077")
        return Master(url, Kind.STANDALONE, tuple(each for each in found if each is not None))
    if url.startswith("k8s://"):
        return _kubernetes(url)
    raise _wrong(url, _unknown(url))


def resource_managers(yarn_site: str) -> Sequence[Address]:
    """The addresses of YARN's resource managers in yarn-site.xml; empty if it names none. Raises ValueError
    for what is not XML."""
    try:
        root = ElementTree.fromstring(yarn_site)
    except ElementTree.ParseError as e:
        raise ValueError(str(e)) from e
    given = {
        (each.findtext("name") or "").strip(): (each.findtext("value") or "").strip()
        for each in root.iter("property")
    }
    prefix = "yarn.resourcemanager"
    ids = [each.strip() for each in given.get(f"{prefix}.ha.rm-ids", "").split(",") if each.strip()]
    found = []
    for suffix in [f".{each}" for each in ids] or [""]:
        host = given.get(f"{prefix}.hostname{suffix}", _UNSET_HOST)
        text = given.get(f"{prefix}.address{suffix}", f"{host}:{_MANAGER_PORT}")
        address = _address(text.replace(f"${{{prefix}.hostname}}", host))
        if address is not None and address[0] != _UNSET_HOST:
            found.append(address)
    return found


def _local(url: str) -> Master:
    if _CLUSTER_HERE.fullmatch(url):
        return Master(url, Kind.LOCAL)
    found = _LOCAL.fullmatch(url)
    if found is None or found[2] == "0":
        raise _wrong(url, "expected local, local[N] or local[*], with N task slots from 1 on")
    if found[4] is not None and found[4] != "1":
        raise _wrong(
            url, f"a task is never run twice with the same leases; write local[{found[2]}]"
        )
    return Master(url, Kind.LOCAL)


def _kubernetes(url: str) -> Master:
    found = _API_SERVER.fullmatch(url)
    port = None if found is None else int(found[3] or (80 if found[1] == "http" else 443))
    if found is None or port is None or not 0 < port < 65536:
        raise _wrong(url, "expected k8s://https://HOST:PORT, the address of the API server")
    return Master(url, Kind.KUBERNETES, ((found[2].strip("[]"), port),))


def _address(text: str) -> Address | None:
    found = _HOST_PORT.fullmatch(text.strip())
    if found is None or not 0 < int(found[2]) < 65536:
        return None
    return found[1].strip("[]"), int(found[2])


def _unknown(url: str) -> str:
    if url.startswith(("http://", "https://")):
        return (
            f"{_EXPECTED}; this is the address of a web page: the page of a standalone master names its "
            "URL, spark://HOST:7077"
        )
    if url.startswith("mesos://"):
        return f"{_EXPECTED}; Spark 4 does not support Mesos"
    if url.startswith("sc://"):
        return f"{_EXPECTED}; Spark Connect is not supported, since Heliograph is Spark's driver itself"
    if url.startswith("yarn"):
        return f"{_EXPECTED}; write yarn"
    if _address(url) is not None:
        return f"{_EXPECTED}; write spark://{url}"
    return _EXPECTED


def _wrong(url: str, why: str) -> ConfigError:
    return ConfigError(f"--master {url or repr(url)}: {why}")
