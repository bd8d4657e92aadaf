package v1alpha1

// ExtraEnvVar is a variable in the environment of seid.
// +kubebuilder:validation:XValidation:rule="!has(self.value) || !has(self.valueFrom)",message="a variable of extraEnv has both value and valueFrom: remove one of them"
type ExtraEnvVar struct {
	// name of the variable. Those that the operator sets, and those by which seid would take settings
	// from the environment, are refused.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$')",message="this is not the name of a variable: write letters, digits and '_', and no digit first, for example GOMEMLIMIT"
	// +kubebuilder:validation:XValidation:rule="!(self in ['HOME', 'PATH', 'TMPDIR', 'UPGRADE_VERSION_LIST']) && !self.startsWith('SEI') && !self.startsWith('LD_')",message="extraEnv cannot set this variable: HOME, TMPDIR, PATH, LD_... and SEI_... belong to the operator and the image, settings of seid (SEID_...) go into overrides, and UPGRADE_VERSION_LIST would replace the upgrades of the image; remove it"
	Name string `json:"name"`
	// value of the variable.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Value string `json:"value,omitempty"`
	// valueFrom takes the value from a Secret or a ConfigMap of the node's namespace.
	// +optional
	ValueFrom *ExtraEnvSource `json:"valueFrom,omitempty"`
}

// ExtraEnvSource is where the value of a variable comes from.
// +kubebuilder:validation:XValidation:rule="has(self.secretKeyRef) != has(self.configMapKeyRef)",message="set exactly one of secretKeyRef and configMapKeyRef"
type ExtraEnvSource struct {
	// secretKeyRef is a key of a Secret.
	// +optional
	SecretKeyRef *ExtraSecretKeyRef `json:"secretKeyRef,omitempty"`
	// configMapKeyRef is a key of a ConfigMap.
	// +optional
	ConfigMapKeyRef *ExtraConfigMapKeyRef `json:"configMapKeyRef,omitempty"`
}

// ExtraSecretKeyRef names a key of a Secret.
type ExtraSecretKeyRef struct {
	// name of the Secret.
	Name ExtraSecretName `json:"name"`
	// key in the Secret.
	Key ExtraKey `json:"key"`
}

// ExtraConfigMapKeyRef names a key of a ConfigMap.
type ExtraConfigMapKeyRef struct {
	// name of the ConfigMap.
	Name ExtraConfigMapName `json:"name"`
	// key in the ConfigMap.
	Key ExtraKey `json:"key"`
}

// ExtraSecretName is the name of a Secret that is given to seid.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="this is not the name of a Secret: write lower-case letters, digits, '-' and '.', a letter or digit first and last, for example proxy-credentials"
// +kubebuilder:validation:XValidation:rule="!self.endsWith('-sidecar-tls')",message="Secrets that end in -sidecar-tls hold certificates of sidecars, which seid must not have: name another Secret"
type ExtraSecretName string

// ExtraConfigMapName is the name of a ConfigMap that is given to seid.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="this is not the name of a ConfigMap: write lower-case letters, digits, '-' and '.', a letter or digit first and last, for example proxy-settings"
type ExtraConfigMapName string

// ExtraKey is a key of a Secret or a ConfigMap.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]+$') && !self.startsWith('..') && self != '.'",message="this is not a key of a Secret or ConfigMap: write letters, digits, '-', '_' and '.', for example ca.crt"
type ExtraKey string

// ExtraPath is a path in a volume.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=255
// +kubebuilder:validation:XValidation:rule="!self.contains('..') && !self.contains('//') && !self.startsWith('/') && !self.endsWith('/')",message="this is not a path in a volume: write names with '/' between them and no '..', for example certs/ca.crt"
type ExtraPath string

// ExtraVolume is a volume for seid. It has exactly one source.
// +kubebuilder:validation:XValidation:rule="[has(self.configMap), has(self.secret), has(self.emptyDir), has(self.projected), has(self.csi)].filter(x, x).size() == 1",message="a volume of extraVolumes needs exactly one of configMap, secret, emptyDir, projected and csi"
type ExtraVolume struct {
	// name by which extraVolumeMounts mount the volume. In the pod it is called extra-NAME.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=57
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Label().validate(self).hasValue()",message="this is not the name of a volume: write lower-case letters, digits and '-', a letter or digit first and last, for example extra-ca"
	Name string `json:"name"`
	// configMap has the files of a ConfigMap.
	// +optional
	ConfigMap *ExtraConfigMap `json:"configMap,omitempty"`
	// secret has the files of a Secret.
	// +optional
	Secret *ExtraSecret `json:"secret,omitempty"`
	// emptyDir is an empty directory that goes with the pod. It can be written to.
	// +optional
	EmptyDir *ExtraEmptyDir `json:"emptyDir,omitempty"`
	// projected has the files of several Secrets and ConfigMaps.
	// +optional
	Projected *ExtraProjected `json:"projected,omitempty"`
	// csi is a volume that a CSI driver makes for the pod. It is read-only.
	// +optional
	CSI *ExtraCSI `json:"csi,omitempty"`
}

// ExtraConfigMap are files of a ConfigMap.
type ExtraConfigMap struct {
	// name of the ConfigMap.
	Name ExtraConfigMapName `json:"name"`
	// items are the keys to take, and their files. Default: all keys.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	Items []ExtraItem `json:"items,omitempty"`
}

// ExtraSecret are files of a Secret.
type ExtraSecret struct {
	// secretName is the name of the Secret.
	SecretName ExtraSecretName `json:"secretName"`
	// items are the keys to take, and their files. Default: all keys.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	Items []ExtraItem `json:"items,omitempty"`
}

// ExtraItem is a key and its file.
type ExtraItem struct {
	// key in the Secret or ConfigMap.
	Key ExtraKey `json:"key"`
	// path of the file in the volume.
	Path ExtraPath `json:"path"`
}

// ExtraEmptyDir is an empty directory.
type ExtraEmptyDir struct {
	// medium is Memory for files in memory, which count to the memory of the container.
	// +kubebuilder:validation:Enum=Memory
	// +optional
	Medium string `json:"medium,omitempty"`
	// sizeLimit evicts the pod when the directory holds more, for example 1Gi.
	// +optional
	SizeLimit Amount `json:"sizeLimit,omitempty"`
}

// ExtraProjected are files of several sources. Tokens of service accounts are not among them.
type ExtraProjected struct {
	// sources of the files.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	Sources []ExtraProjection `json:"sources"`
}

// ExtraProjection is one source of files.
// +kubebuilder:validation:XValidation:rule="has(self.configMap) != has(self.secret)",message="a source of projected needs exactly one of configMap and secret"
type ExtraProjection struct {
	// configMap has the files of a ConfigMap.
	// +optional
	ConfigMap *ExtraConfigMap `json:"configMap,omitempty"`
	// secret has the files of a Secret.
	// +optional
	Secret *ExtraProjectedSecret `json:"secret,omitempty"`
}

// ExtraProjectedSecret are files of a Secret among others.
type ExtraProjectedSecret struct {
	// name of the Secret.
	Name ExtraSecretName `json:"name"`
	// items are the keys to take, and their files. Default: all keys.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	Items []ExtraItem `json:"items,omitempty"`
}

// ExtraCSI is a volume of a CSI driver that goes with the pod.
type ExtraCSI struct {
	// driver that makes the volume, for example secrets-store.csi.k8s.io.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self.lowerAscii()).hasValue()",message="this is not the name of a CSI driver: write letters, digits, '-' and '.', a letter or digit first and last, for example secrets-store.csi.k8s.io"
	Driver string `json:"driver"`
	// volumeAttributes are what the driver wants to know.
	// +kubebuilder:validation:MaxProperties=32
	// +optional
	VolumeAttributes map[string]string `json:"volumeAttributes,omitempty"`
}

// ExtraVolumeMount is where seid has a volume of extraVolumes.
type ExtraVolumeMount struct {
	// name of the volume in extraVolumes.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=57
	Name string `json:"name"`
	// mountPath is a path below /mnt or /etc/ssl/certs.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^/(mnt|etc/ssl/certs)(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$')",message="mountPath must be below /mnt or /etc/ssl/certs, for example /mnt/extra-ca: everything else belongs to the operator and the image"
	MountPath string `json:"mountPath"`
	// subPath is a path in the volume to mount in place of the whole. Changes of its Secret or
	// ConfigMap are not seen then until the container starts again.
	// +optional
	SubPath ExtraPath `json:"subPath,omitempty"`
}
