"""D1, flow 2 as a pod: the properties file comes from a ConfigMap, mounted at the path of the file.

Such a mount is a folder that holds the file. The pod's image is not part of this story: the files are those
of the pod, the process is that of its command.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from examples.strimzi_to_event_streams.story import CREATED, truststore
from examples.support.hosts import event_streams, strimzi
from examples.support.stage import Stage
from examples.support.story import Story


def tell(stage: Stage) -> None:
    protocol = stage.protocol
    stage.take_files("config_map_and_pod", {**strimzi(stage.source), **event_streams(stage.target)})
    stage.target.grant("token", create=True)
    truststore(stage)
    folder = mount(stage)
    file = f"{folder.name}/{folder.name}"
    stage.trust(file, "target.")
    stage.few_replicas(file)
    stage.source.create("products")
    stage.source.produce("products", [b"P01", b"P02"])

    with stage.mirror(folder.name) as mirror:
        stage.same_records("products", "source.products", 2)
        protocol.wait(
            "its topics are there",
            lambda: CREATED - stage.target.topics().keys(),
            lambda left: not left,
        )
        found = stage.target.topics()
        storage = [
            found[f"mm2-{kind}.source.internal"].partitions
            for kind in ("configs", "offsets", "status")
        ]
        protocol.check("configs, offsets and status have MM2's partitions", storage, [1, 25, 5])
        protocol.check("exit code of SIGTERM", mirror.stop(), 0)
        stage.no_secret_in(mirror.said())


def mount(stage: Stage) -> Path:
    """What Kubernetes does for the pod; the folder that its container gets."""
    pod, config_map = (read(stage, name) for name in ("mm2-pod.yaml", "mm2properties.yaml"))
    container = pod["spec"]["containers"][0]
    volumes = {each["name"]: each for each in pod["spec"]["volumes"]}
    (path,) = (
        Path(each["mountPath"])
        for each in container["volumeMounts"]
        if volumes[each["name"]].get("configMap") == {"name": config_map["metadata"]["name"]}
    )
    stage.protocol.step(
        "the pod",
        "oc create configmap mm2properties --from-file kafka-to-es-mm2.properties",
        "oc apply -f es-apikey-target.yaml -f mm2-pod.yaml",
    )
    path.mkdir()
    for name, text in config_map["data"].items():
        (path / name).write_text(text)
    stage.protocol.check(
        "the command's file is the mounted folder", container["command"][1], str(path)
    )
    return path


def read(stage: Stage, name: str) -> Any:
    return yaml.safe_load((stage.home / name).read_text())


STORY = Story(
    name="config_map_and_pod",
    title="Story 6: ConfigMap, Secret and pod",
    tell=tell,
)
