"""A configuration that serves on other machines: what its files hold travels within it."""

from __future__ import annotations

import logging
from dataclasses import replace

from heliograph.client.key_stores import shippable
from heliograph.config.mirror_config import MirrorConfig
from heliograph.errors import BadKeyMaterial
from heliograph.model import ClusterConfig
from heliograph.security import Security

log = logging.getLogger(__name__)


def shipped(config: MirrorConfig) -> MirrorConfig:
    """What cannot be read here stays a path: it may be there where a task runs, or come later."""
    return replace(
        config,
        clusters=tuple(_shipped(cluster) for cluster in config.clusters),
        flow_clusters=tuple((flow, _shipped(cluster)) for flow, cluster in config.flow_clusters),
    )


def _shipped(cluster: ClusterConfig) -> ClusterConfig:
    return replace(
        cluster,
        security=_material(cluster, cluster.security),
        by_client=tuple((kind, _material(cluster, each)) for kind, each in cluster.by_client),
    )


def _material(cluster: ClusterConfig, security: Security) -> Security:
    try:
        return shippable(security)
    except BadKeyMaterial as e:
        log.warning("cluster %r: %s; tasks look for it where they run", cluster.alias, e)
        return security
