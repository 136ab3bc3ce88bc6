"""A KafkaMirrorMaker2 in both shapes, with every kind of login, and Secrets for it."""

from __future__ import annotations

import base64

V1 = """\
apiVersion: kafka.strimzi.io/v1
kind: KafkaMirrorMaker2
metadata: {name: my-mirror, namespace: kafka}
spec:
  version: 4.3.1
  replicas: 2
  target:
    alias: eu
    bootstrapServers: eu1:9093
    groupId: my-group
    configStorageTopic: my-configs
    offsetStorageTopic: my-offsets
    statusStorageTopic: my-status
    tls:
      trustedCertificates:
        - {secretName: eu-ca, pattern: "*.crt"}
    authentication:
      type: scram-sha-512
      username: writer
      passwordSecret: {secretName: eu-user, password: password}
    config:
      offset.storage.replication.factor: -1
      producer.max.request.size: 2000000
  mirrors:
    - source:
        alias: us
        bootstrapServers: us1:9093
        tls:
          trustedCertificates:
            - {secretName: us-ca, certificate: ca.crt}
        authentication:
          type: tls
          certificateAndKey: {secretName: us-user, certificate: user.crt, key: user.key}
      sourceConnector:
        tasksMax: 3
        config:
          replication.factor: -1
          sync.topic.acls.enabled: "false"
      checkpointConnector:
        state: running
        autoRestart: {enabled: true}
        config:
          sync.group.offsets.enabled: true
      topicsPattern: "orders.*"
      groupsPattern: "app-.*"
"""
V1BETA2 = """\
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaMirrorMaker2
metadata:
  name: my-mirror
spec:
  connectCluster: eu
  clusters:
    - alias: us
      bootstrapServers: us1:9092
    - alias: eu
      bootstrapServers: eu1:9092
      config:
        config.storage.replication.factor: 1
        group.id: other
  mirrors:
    - sourceCluster: us
      targetCluster: eu
      sourceConnector: {tasksMax: 1}
      heartbeatConnector:
        config: {heartbeats.topic.replication.factor: 1}
      checkpointConnector:
        pause: true
      topicsPattern: ".*"
      topicsBlacklistPattern: "private.*"
"""


def secret(name: str, **data: str) -> str:
    encoded = {
        key.replace("_", "."): base64.b64encode(text.encode()).decode()
        for key, text in data.items()
    }
    lines = "".join(f"  {key}: {text}\n" for key, text in encoded.items())
    return f"apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, namespace: kafka}}\ndata:\n{lines}"


SECRETS = "---\n".join(
    [
        secret("eu-ca", ca_crt="EU ONE", ca2_crt="EU TWO", ca_p12="not this"),
        secret("eu-user", password="s3cret"),
        secret("us-ca", ca_crt="US"),
        secret("us-user", user_crt="CHAIN", user_key="KEY"),
    ]
)
