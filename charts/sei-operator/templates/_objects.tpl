{{/*
The manifests are copies of those in config/, made by make manifests. Templates here read them, change what values ask
for, and print them, so that rules, flags and probes are written down once.
*/}}

{{/*
The objects of a folder of manifests, as JSON.
  include "sei-operator.objects" (list $ "rbac") | fromJsonArray
*/}}
{{- define "sei-operator.objects" -}}
{{- $root := index . 0 -}}
{{- $objects := list -}}
{{- $account := printf "system:serviceaccount:%s:sei-operator" $root.Release.Namespace -}}
{{- range $path, $_ := $root.Files.Glob (printf "manifests/%s/*.yaml" (index . 1)) -}}
  {{- range $document := regexSplit "(?m)^---$" ($root.Files.Get $path) -1 -}}
    {{- with $document | replace "system:serviceaccount:sei-operator:sei-operator" $account | fromYaml -}}
      {{- $objects = append $objects . -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- toJson $objects -}}
{{- end -}}

{{/*
Prints an object, in the release's namespace or the one given, with the labels that all objects have.
  include "sei-operator.object" (list $ OBJECT)
  include "sei-operator.object" (list $ OBJECT "namespace")
*/}}
{{- define "sei-operator.object" -}}
{{- $root := index . 0 -}}
{{- $object := index . 1 -}}
{{- if hasKey $object.metadata "namespace" -}}
  {{- $_ := set $object.metadata "namespace" (gt (len .) 2 | ternary (last .) $root.Release.Namespace) -}}
{{- end -}}
{{- range $object.subjects -}}
  {{- $_ := set . "namespace" $root.Release.Namespace -}}
{{- end -}}
{{- $labels := include "sei-operator.labels" $root | fromYaml -}}
{{- $_ := set $object.metadata "labels" (merge (default dict $object.metadata.labels) $labels) }}
---
{{ toYaml $object }}
{{- end -}}

{{- define "sei-operator.labels" -}}
app.kubernetes.io/part-of: sei-operator
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "_" | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
{{- end -}}
