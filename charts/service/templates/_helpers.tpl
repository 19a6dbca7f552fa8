{{- define "service.fullname" -}}
{{- printf "%s-%s" .Release.Name (required "name is required: the name of the service" .Values.name) | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "service.selector" -}}
app.kubernetes.io/name: {{ .Values.name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "service.labels" -}}
{{ include "service.selector" . }}
app.kubernetes.io/part-of: process-document-service
app.kubernetes.io/component: service
app.kubernetes.io/version: {{ .Chart.AppVersion | default .Chart.Version | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "service.image" -}}
{{- with .Values.global.image -}}
{{- .repository -}}
{{- if or .tag (not .digest) }}:{{ .tag | default $.Chart.AppVersion | default $.Chart.Version }}{{ end -}}
{{- with .digest }}@{{ . }}{{ end -}}
{{- end -}}
{{- end -}}
