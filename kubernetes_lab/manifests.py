"""Every manifest and every form of the chart is accepted by the API server, strictly: no unknown field."""

from __future__ import annotations

from collections.abc import Iterator

from containers.errors import LabError
from containers.images import ROOT
from kubernetes_lab.definitions import MONITORS
from kubernetes_lab.kubectl import wait_for
from kubernetes_lab.lab import Lab

MANIFESTS = ROOT / "deploy" / "kubernetes"
CHART = ROOT / "deploy" / "helm" / "heliograph"
#: Values that turn on what is off by default.
FORMS: dict[str, tuple[str, ...]] = {
    "defaults": (),
    "monitoring": (
        "podMonitor.enabled=true",
        "prometheusRule.enabled=true",
        "dashboards.enabled=true",
    ),
    "spark": ("spark.kubernetes.enabled=true", "secretEnv.PASSWORD=x", "mountedSecrets={my-ca}"),
    "worker": ("config.mode=worker", "config.files.worker\\.properties=group.id=g"),
    "operator": ("operator.enabled=true",),
}
#: Wrong values, and what the schema says.
WRONG = {
    "replicas=two": "/replicas",
    "replica=2": "replica",
    "image.pullPolicy=Sometimes": "/image/pullPolicy",
    "config.mode=both": "/config/mode",
}
_DRY = ("apply", "--dry-run=server", "--validate=strict", "-f")


def check(lab: Lab) -> dict[str, object]:
    lab.kubectl.apply(*MONITORS)
    wait_for("monitors are served", lambda: _served(lab))
    checked = 0
    for name, text in _texts(lab):
        lab.kubectl(*_DRY, "-", given=text)
        checked += text.count("\nkind: ") + text.startswith("kind: ")
        print(f"accepted: {name}", flush=True)
    _a_typo_is_refused(lab)
    for value, expected in WRONG.items():
        _refused(lab, value, expected)
    return {"accepted_objects": checked, "refused_values": len(WRONG)}


def _served(lab: Lab) -> bool:
    return "podmonitors" in lab.kubectl("api-resources", "--api-group=monitoring.coreos.com")


def _texts(lab: Lab) -> Iterator[tuple[str, str]]:
    for file in sorted(MANIFESTS.glob("*.yaml")):
        yield str(file.relative_to(ROOT)), file.read_text()
    for name, values in FORMS.items():
        yield f"chart, {name}", render(lab, *values)


def render(lab: Lab, *values: str) -> str:
    sets = [word for value in values for word in ("--set", value)]
    return lab.kubectl.helm("template", "form", CHART, *sets)


def _a_typo_is_refused(lab: Lab) -> None:
    """A check that accepts everything would show nothing."""
    text = (MANIFESTS / "heliograph.yaml").read_text().replace("readinessProbe:", "readinesProbe:")
    refusal = lab.kubectl.refusal(*_DRY, "-", given=text)
    if "readinesProbe" not in refusal:
        raise LabError(f"a typo: expected a refusal that names it, found {refusal}")


def _refused(lab: Lab, value: str, expected: str) -> None:
    try:
        render(lab, value)
    except LabError as e:
        lines = [line for line in str(e).splitlines() if line.startswith("- ")]
        if not any(expected in line for line in lines):
            raise LabError(f"chart with {value}: expected {expected!r} in the error: {e}") from e
        print(f"refused: {value}: {lines[0].removeprefix('- ')}", flush=True)
        return
    raise LabError(f"chart with {value}: accepted, expected an error of the schema")
