"""`make kubernetes`: the chart, the manifests and the operator on a real control plane and real kubelets."""
