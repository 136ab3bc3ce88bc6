{{- define "heliograph.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "heliograph.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 53 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 53 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "heliograph.selector" -}}
app.kubernetes.io/name: {{ include "heliograph.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "heliograph.labels" -}}
{{ include "heliograph.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "heliograph.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}

{{- define "heliograph.serviceAccount" -}}
{{- default (include "heliograph.fullname" .) .Values.serviceAccount.name -}}
{{- end -}}

{{/* Whether the pods talk to Kubernetes: Spark's driver starts executors, the operator reconciles. */}}
{{- define "heliograph.needsToken" -}}
{{- if or .Values.operator.enabled .Values.spark.kubernetes.enabled -}}true{{- else -}}false{{- end -}}
{{- end -}}

{{- define "heliograph.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{- define "heliograph.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
fsGroup: 10001
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{/* The one file that the command is given. */}}
{{- define "heliograph.file" -}}
{{- if eq .Values.config.mode "worker" -}}worker.properties
{{- else -}}
{{- $found := list -}}
{{- range $name := list "mm2.properties" "mirror.yaml" "connectors.json" -}}
{{- if hasKey $.Values.config.files $name }}{{ $found = append $found $name }}{{ end -}}
{{- end -}}
{{- if and (not $found) (not .Values.config.existingConfigMap) -}}
{{- fail "config.files: expected mm2.properties, mirror.yaml or connectors.json, found none of them" -}}
{{- end -}}
{{- first (append $found "mm2.properties") -}}
{{- end -}}
{{- end -}}
