{{- define "gvList" -}}
# API reference

<!-- Made by hack/docs.sh (make docs) from api/v1alpha1. Change the comments and markers there instead. -->
{{ range . }}
{{ template "gvDetails" . }}
{{- end }}
{{- end -}}
