{{- define "type" -}}
{{- $type := . -}}
{{- if markdownShouldRenderType $type }}
## {{ $type.Name }}

{{ $type.Doc }}
{{- if $type.References }}

Part of {{ range $i, $r := $type.SortedReferences }}{{ if $i }}, {{ end }}{{ markdownRenderTypeLink $r }}{{ end }}.
{{- end }}
{{- if and $type.IsAlias (not $type.EnumValues) }}

A {{ markdownRenderType $type.UnderlyingType }}
{{- range $type.Validation }}{{ $name := index (splitList ":" .) 0 }}; {{ snakecase $name | replace "_" " " }}{{ . | trimPrefix $name | trimPrefix ":" }}{{ end }}.
{{- end }}
{{- with index $type.Markers "kubebuilder:validation:XValidation" }}

Refused when applied:
{{ range . }}
- {{ .Message | markdownRenderFieldDoc }}
{{- end }}
{{- end }}
{{- $described := false }}
{{- range $type.EnumValues }}{{ if .Doc }}{{ $described = true }}{{ end }}{{ end }}
{{- if and $type.EnumValues (not $described) }}

One of {{ range $i, $v := $type.EnumValues }}{{ if $i }}, {{ end }}`{{ $v.Name }}`{{ end }}.
{{- else if $type.EnumValues }}

| value | meaning |
| --- | --- |
{{- range $type.EnumValues }}
| `{{ .Name }}` | {{ regexReplaceAll "^[A-Za-z0-9]+: " (.Doc | trim | replace "\n" " ") "" | markdownRenderFieldDoc }} |
{{- end }}
{{- else if $type.Members }}

| field | type | meaning | rules |
| --- | --- | --- | --- |
{{- if $type.GVK }}
| `apiVersion` | string | `{{ $type.GVK.Group }}/{{ $type.GVK.Version }}` | *required* |
| `kind` | string | `{{ $type.GVK.Kind }}` | *required* |
{{- end }}
{{- range $type.Members }}
| `{{ .Name }}` | {{ markdownRenderType .Type }} | {{ template "meaning" . }} | {{ template "rules" . }} |
{{- end }}
{{- end }}
{{ end -}}
{{- end -}}
