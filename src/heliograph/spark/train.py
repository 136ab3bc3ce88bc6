"""Makes the JVM's class-data archive with one short Spark run, so that later starts load classes from it.

`python -m heliograph.spark.train` is part of `make`'s set-up. Without the archive each start takes about
three seconds longer.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from heliograph.machine.class_archive import build_archive, make_base_archive
from heliograph.machine.java import require_java
from heliograph.security import Secret
from heliograph.spark.jvm import archive_path
from heliograph.spark.query import CopyQuery
from heliograph.spark.sealing import new_key
from heliograph.spark.session import LocalSpark
from heliograph.spark.task import Copy

log = logging.getLogger(__name__)

#: For writing 150 MB of classes when the JVM ends.
_DUMP_SECONDS = 120.0


def train() -> Path:
    """Returns the archive's path; makes the archive if it does not exist."""
    java = require_java()
    archive = archive_path(java)
    if not archive.exists():
        make_base_archive(java)
        log.info("preparing Spark for faster starts (once per environment) …")
    return build_archive(archive, run_once)


def run_once(flags: tuple[str, ...]) -> None:
    """Every step of a mirror's start, with epochs that have nothing to copy."""
    spark = LocalSpark(1, jvm_flags=flags)
    copy = Copy(driver=("", 0), channel_key=Secret(), seal_key=new_key(), patience_seconds=1)
    query = CopyQuery(spark.session(), 1, copy, lambda epoch: None)
    query.start(once=False)
    for epoch in (1, 2):
        query.add(epoch, [])
        query.settle_all()
    query.stop()
    spark.close(patience=_DUMP_SECONDS)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    logging.getLogger("py4j").setLevel(logging.WARNING)
    train()
