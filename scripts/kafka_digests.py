"""Prints the SHA-256 of all jars of a Kafka version, and fetches them if needed. To record a new version:

python scripts/kafka_digests.py 4.3.1 > src/heliograph/embedded/kafka-4.3.1.sha256
"""

from __future__ import annotations

import sys

from heliograph.embedded.digests import digest_of
from heliograph.embedded.jars import BROKER, MIRROR_MAKER, kafka_jars


def main(version: str) -> None:
    folders = [kafka_jars(version, artifacts) for artifacts in (BROKER, MIRROR_MAKER)]
    jars = {jar.name: jar for folder in folders for jar in folder.glob("*.jar")}
    out = sys.stdout.write
    out(
        f"# SHA-256 of every jar of Kafka {version} that the demo and the tests run, from Maven Central.\n"
    )
    out(f"# Made by: python scripts/kafka_digests.py {version}\n")
    for name in sorted(jars):
        out(f"{digest_of(jars[name])}  {name}\n")


main(sys.argv[1])
