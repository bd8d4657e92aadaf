{{- define "gvDetails" -}}
{{- $gv := . -}}
Group and version: `{{ $gv.GroupVersionString }}`. `kubectl explain seinode.spec` shows the same texts.
A field is optional unless its rules say *required*. Rules are checked when an object is applied; what
only shows later is a condition, see [conditions](conditions.md).

Kinds:
{{ range $gv.SortedKinds }}
- {{ $gv.TypeForKind . | markdownRenderTypeLink }}
{{- end }}

Parts, in alphabetical order, follow the kinds.
{{ range $gv.SortedKinds }}
{{- template "type" ($gv.TypeForKind .) }}
{{- end }}
{{- range $gv.SortedTypes }}
{{- if not .GVK }}{{ template "type" . }}{{ end }}
{{- end }}
{{- end -}}
