"""The sentences of docs/dashboards.md."""

from __future__ import annotations

INTRODUCTION = """\
# Dashboards and alerts

This page is generated from `dashboards/results/`; do not edit it: `python -m dashboards.page > docs/dashboards.md`.
`make dashboards` makes the results: a real Prometheus (Debian's package; fetched without root, no system service)
scrapes a live mirror on embedded brokers. Grafana itself could not be had where this was made: the dashboards are
built with Grafana's own model and every query is proven, but no Grafana has drawn them.

## Install
1. Let Prometheus scrape the service ([metrics](metrics.md)), with a job name that has `heliograph` in it.
2. Import `deploy/grafana/*.json`, or put them where Grafana provisions dashboards from. `Data source`, `Cluster`
   (as source or target) and `Flow` are variables; set `Runbooks` to the address where you serve `docs/runbooks`.
3. Add `deploy/prometheus/heliograph.rules.yml` to `rule_files`. Each alert names [its runbook](runbooks/README.md).
   `promtool test rules heliograph.rules.test.yml` runs their tests.

"""

OURS = """\
## Our dashboards
{boards}

Commit {commit}, with `--master {master}`: in a minute of scrapes the oldest report of a task was {oldest} s old. The pictures are drawn by `make dashboards` from Prometheus' answers, on Grafana's grid.

![flows](images/grafana-heliograph-overview.png)

![a flow](images/grafana-heliograph-flow.png)

![groups](images/grafana-heliograph-groups.png)

![service and Spark](images/grafana-heliograph-spark.png)

"""

THEIRS = """\
## Dashboards that you have
Strimzi's and the workshop's dashboards work unchanged. Each of their queries, with their own variables:

{table}

Without data, with MirrorMaker 2 as well:

{empty}

Off Kubernetes, Strimzi's dashboards need the labels that its operator would add:
`metrics.labels=strimzi_io_kind=KafkaMirrorMaker2,strimzi_io_cluster=my-mm2,namespace=my-namespace,kubernetes_pod_name=my-host`.
CPU of the reporter's flavour asks for `pod=my-mm2-mirrormaker2-…` and `container=my-mm2-mirrormaker2`, too. Strimzi's alerts
`ConnectFailedConnector` and `ConnectFailedTask` find their series with `strimzi-jmx`.

"""

ALERTS = """\
## Alerts
Each fired by a real fault, and ended when the fault was gone. So that a run takes minutes, the durations of the
rules are divided by {divisor}; thresholds are as shipped.

{table}

{lags}

"""

COMPARISON = """\
## The same work, both systems
`make dashboards ARGS=--mm2`: MirrorMaker 2 4.3.1 on a Connect worker, with the JMX exporter 1.0.1, and
`heliograph serve` have the same connectors and copy the same topics, each to a target of its own. One Prometheus
scrapes both. "counted" is what an independent client has counted or measured on that system's target. Records carry
timestamps of 10 s ago, so that ages and latencies are what both must measure, not how fast each is. Commit {commit}.

{values}

Series and labels of {names} names that Strimzi's dashboard and alerts ask for: {alike} have the same series with the
same labels. The others:

{series}

The exporter's rules are `dashboards/comparison/rules.yml`: Strimzi's names, written anew. Strimzi's own have no end,
so that they add `records-lag-max` to the lag ([what differs](metrics.md#what-differs-from-mirrormaker-2)).
"""
