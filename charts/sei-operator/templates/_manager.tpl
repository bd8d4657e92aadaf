{{/*
An image's name with its registry: a name without one is pulled from wherever the container runtime likes.
  include "sei-operator.image" (list $ .Values.image)
*/}}
{{- define "sei-operator.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- $registry := required "image.registry is empty: name the registry to pull the operator's images from, as in --set image.registry=registry.example.com/sei-operator" (default $root.Values.image.registry $image.registry) -}}
{{- $registry }}/{{ $image.repository -}}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ default $root.Chart.AppVersion $image.tag }}{{ end -}}
{{- end -}}

{{/* The platform configuration, with the sidecar's image unless it is named there. */}}
{{- define "sei-operator.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- if not (dig "images" "sidecar" "" $config) -}}
  {{- $images := dict "sidecar" (include "sei-operator.image" (list . .Values.sidecarImage)) -}}
  {{- $_ := set $config "images" (merge $images (default dict $config.images)) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/*
Changes the Deployment to what values ask for; prints nothing.
  include "sei-operator.deployment" (list $ OBJECT)
*/}}
{{- define "sei-operator.deployment" -}}
{{- $root := index . 0 -}}
{{- $values := $root.Values -}}
{{- $spec := (index . 1).spec -}}
{{- $_ := set $spec "replicas" $values.replicas -}}

{{- $metadata := $spec.template.metadata -}}
{{- $checksum := dict "checksum/config" (include "sei-operator.config" $root | sha256sum) -}}
{{- $_ := set $metadata "annotations" (merge $checksum (default dict $metadata.annotations) $values.podAnnotations) -}}
{{- $_ := set $metadata "labels" (merge $metadata.labels $values.podLabels) -}}

{{- $pod := $spec.template.spec -}}
{{- $_ := set $pod "priorityClassName" $values.priorityClassName -}}
{{- range $field := list "imagePullSecrets" "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" -}}
  {{- with index $values $field -}}
    {{- $_ := set $pod $field . -}}
  {{- end -}}
{{- end -}}
{{- $_ := set $pod "volumes" (concat $pod.volumes $values.extraVolumes) -}}

{{- $manager := first $pod.containers -}}
{{- $_ := set $manager "image" (include "sei-operator.image" (list $root $values.image)) -}}
{{- with $values.image.pullPolicy -}}
  {{- $_ := set $manager "imagePullPolicy" . -}}
{{- end -}}
{{- with $values.resources -}}
  {{- $_ := set $manager "resources" . -}}
{{- end -}}
{{- $args := $manager.args -}}
{{- range $values.watch.namespaces -}}
  {{- $args = append $args (printf "--watch-namespace=%s" .) -}}
{{- end -}}
{{- $_ := set $manager "args" (concat $args $values.extraArgs) -}}
{{- $_ := set $manager "env" (concat $manager.env $values.extraEnv) -}}
{{- $_ := set $manager "volumeMounts" (concat $manager.volumeMounts $values.extraVolumeMounts) -}}
{{- end -}}
