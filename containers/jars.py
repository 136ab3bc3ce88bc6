"""Which of Spark's jars a mirror loads, and so which an image can leave out.

    python -m containers.jars > deploy/docker/unused_jars.txt

Runs one JVM through every step of a mirror's start, as the archive of classes is made, and reads Java's own
list of loaded classes. Jars that only a Spark on a cluster needs (Kubernetes, the UI, encryption) are kept by
name.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from heliograph.spark.jvm import class_path
from heliograph.spark.train import run_once

_SOURCE = re.compile(r"source: (?:file:|jar:file:)?(\S+\.jar)")
_VERSION = re.compile(r"(_2\.13)?-\d.*")
#: Not loaded by a local Spark. --master spark://, k8s:// and yarn need them, or the UI does.
_OF_CLUSTERS = re.compile(
    r"kubernetes-(client|httpclient|model-(apps|batch|common|coordination|core|policy|rbac|events|storageclass"
    r"|networking|certificates|apiextensions|autoscaling|discovery|extensions|flowcontrol|metrics|node|resource"
    r"|scheduling|admissionregistration|gatewayapi))"
    r"|vertx|netty|jackson|snakeyaml|zjsonpatch|volcano|jjwt|tink|gson|commons-crypto|failureaccess"
    r"|spark-(kubernetes|yarn|launcher|network|kvstore|streaming|graphx)"
    r"|jersey|hk2|jakarta|javax\.servlet|aopalliance|osgi|javassist|leveldbjni|jaxb|istack"
    r"|guava|metrics|dropwizard|compress-lzf|spark-(sketch|variant|udf)"
    r"|slf4j|log4j|jul-to|jcl-over|zstd|lz4|snappy|lzf|commons|http|hadoop|roaring|kryo|chill|minlog|objenesis",
    re.IGNORECASE,
)

#: Loaded for plug-ins of log4j only, which are skipped if the jar is missing.
_DISPENSABLE = re.compile("hive-exec")


def stem(jar: str) -> str:
    return _VERSION.sub("", jar.removesuffix(".jar"))


def loaded(log: str) -> set[str]:
    """Names of the jars in the output of -Xlog:class+load."""
    return {Path(found).name for found in _SOURCE.findall(log)}


def unused(jars: dict[str, int], used: set[str]) -> dict[str, int]:
    """Of all jars with their sizes those that neither a local mirror nor one on a cluster needs, by stem."""
    found: dict[str, int] = {}
    for name, size in jars.items():
        if name not in used and not _OF_CLUSTERS.match(name):
            found[stem(name)] = found.get(stem(name), 0) + size
    # A jar with another version of the same name is in use.
    return {name: size for name, size in found.items() if name not in {stem(u) for u in used}}


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="heliograph-jars-") as folder:
        log = Path(folder) / "classes.log"
        run_once((f"-Xlog:class+load:file={log}",))
        used = loaded(log.read_text(errors="replace"))
    jars = {path.name: path.stat().st_size for path in map(Path, class_path().split(":"))}
    needed = {name for name in used if not _DISPENSABLE.match(name)}
    found = unused(jars, needed)
    total = sum(jars.values())
    loaded_size = sum(size for name, size in jars.items() if name in used)
    sys.stdout.write(
        "# Spark's jars that no mirror loads, without their versions. Made by: python -m containers.jars\n"
        f"# {len(jars)} jars with {total / 1e6:.0f} MB; a local mirror loads classes of {len(used)} with "
        f"{loaded_size / 1e6:.0f} MB; {len(found)} names with {sum(found.values()) / 1e6:.0f} MB are left "
        "out.\n"
    )
    sys.stdout.writelines(f"{name}\n" for name in sorted(found))


if __name__ == "__main__":
    main()
