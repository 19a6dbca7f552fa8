{{- define "service.fullname" -}}
{{- $name := printf "%s-%s" .Release.Name (required "name is required: the name of the service" .Values.name) -}}
{{- if gt (len $name) 63 }}{{ fail (printf "the release name %s is too long: %s has more than 63 characters" .Release.Name $name) }}{{ end -}}
{{- $name -}}
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
