{{- define "platform.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/part-of: process-document-service
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "platform.image" -}}
{{- with .Values.global.image -}}
{{- .repository -}}
{{- if or .tag (not .digest) }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- with .digest }}@{{ . }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* A path of an Ingress with its path type and backend service. */}}
{{- define "platform.path" -}}
- path: {{ .path }}
  pathType: {{ .type }}
  backend:
    service:
      name: {{ .release }}-{{ .service }}
      port: { name: http }
{{- end -}}

{{- define "platform.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.global.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.global.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.global.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "platform.container" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}
