{{- define "meaning" -}}
{{- if eq .Type.Name "ObjectMeta" -}}
name, namespace, labels and annotations
{{- else -}}
{{ .Doc | replace "\n" " " | markdownRenderFieldDoc }}
{{- end -}}
{{- end -}}

{{- define "rules" -}}
{{- $parts := list -}}
{{- $array := hasSuffix " array" (markdownRenderType .Type) -}}
{{- if not (or (has "Optional: {}" .Validation) (eq .Name "metadata")) }}{{ $parts = append $parts "*required*" }}{{ end -}}
{{- with .Default }}{{ $parts = append $parts (printf "default: %s" (markdownRenderDefault .)) }}{{ end -}}
{{- range .Validation -}}
{{- /* What holds for the items of a list is said where their type is described. */ -}}
{{- $ofItems := and $array (or (hasPrefix "Pattern:" .) (hasPrefix "MaxLength:" .) (hasPrefix "MinLength:" .)) -}}
{{- if not (or $ofItems (hasPrefix "Optional:" .) (hasPrefix "Required:" .) (hasPrefix "Enum:" .) (hasPrefix "Schemaless" .)) -}}
{{- $name := index (splitList ":" .) 0 -}}
{{- $value := trimPrefix (printf "%s: " $name) . -}}
{{- if eq $name "Pattern" -}}
{{- $parts = append $parts (printf "matches `%s`" ($value | trimAll "`" | replace "|" "\\|")) -}}
{{- else if ne $value "{}" -}}
{{- $parts = append $parts (printf "%s %s" (snakecase $name | replace "_" " ") (markdownRenderFieldDoc $value)) -}}
{{- end -}}
{{- end -}}
{{- if hasPrefix "Enum:" . }}{{ $parts = append $parts (printf "one of `%s`" (. | trimPrefix "Enum: [" | trimSuffix "]" | replace " " "`, `")) }}{{ end -}}
{{- end -}}
{{- if not (index .Type.Markers "kubebuilder:validation:XValidation") -}}
{{- range index .Markers "kubebuilder:validation:XValidation" }}{{ $parts = append $parts (markdownRenderFieldDoc .Message) }}{{ end -}}
{{- end -}}
{{ join "; " $parts }}
{{- end -}}
