{{/* Labels that Helm's users expect, besides those of config/. */}}
{{- define "windlass.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "_" | quote }}
{{- end }}

{{- define "windlass.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{/* Nothing but the names of controllers that are switched off, in the order of --controllers. */}}
{{- define "windlass.off" -}}
{{- range $name := list "nodepool" "podset" "podbuggertool" "virtualmachine" "cluster" "kubeconfig" }}
{{- if not (index $.Values.controllers $name).enabled }} {{ $name }}{{ end }}
{{- end }}
{{- end }}

{{/* The security of every container, which Pod Security "restricted" asks for. */}}
{{- define "windlass.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "windlass.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* Pods of a component on different nodes, as far as there are some. */}}
{{- define "windlass.spread" -}}
maxSkew: 1
topologyKey: {{ .key }}
whenUnsatisfiable: ScheduleAnyway
labelSelector:
  matchLabels:
    app.kubernetes.io/name: windlass
    app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "windlass.probes" -}}
livenessProbe:
  httpGet: { path: /healthz, port: health }
  periodSeconds: 20
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: { path: /readyz, port: health }
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}
