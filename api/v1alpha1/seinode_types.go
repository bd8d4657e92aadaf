package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SeiNodeSpec is what a user wants of one node.
// +kubebuilder:validation:XValidation:rule="[has(self.fullNode), has(self.archive), has(self.replayer), has(self.validator), has(self.seed)].filter(x, x).size() == 1",message="set exactly one of fullNode, archive, replayer, validator and seed"
// +kubebuilder:validation:XValidation:rule="has(self.fullNode) == has(oldSelf.fullNode) && has(self.archive) == has(oldSelf.archive) && has(self.replayer) == has(oldSelf.replayer) && has(self.validator) == has(oldSelf.validator) && has(self.seed) == has(oldSelf.seed)",message="the mode cannot change: the data of one mode does not fit another; make a new SeiNode"
// +kubebuilder:validation:XValidation:rule="!has(self.replayer) || (has(self.peers) && size(self.peers) > 0)",message="a replayer needs peers to fetch blocks from: add at least one entry to peers"
// +kubebuilder:validation:XValidation:rule="!has(self.overrides) || self.overrides.map(k, size(k) + size(self.overrides[k])).sum() <= 65536",message="overrides hold more than 64 KiB together: keep to the keys that differ from the mode's defaults"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.dataVolume) || !has(oldSelf.dataVolume.__import__) || (has(self.dataVolume) && has(self.dataVolume.__import__))",message="dataVolume.import cannot be removed: the node lives on that volume; make a new SeiNode"
// +kubebuilder:validation:XValidation:rule="(has(oldSelf.dataVolume) && has(oldSelf.dataVolume.__import__)) || !has(self.dataVolume) || !has(self.dataVolume.__import__)",message="dataVolume.import cannot be added later: the node lives on a volume of its own by then; make a new SeiNode"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.dataVolume) || !has(oldSelf.dataVolume.size) || (has(self.dataVolume) && has(self.dataVolume.size) && (!(size(string(self.dataVolume.size)) <= 24 && (string(self.dataVolume.size).lowerAscii().indexOf('e') == -1 || string(self.dataVolume.size).lowerAscii().indexOf('e') >= size(string(self.dataVolume.size)) - 3) && isQuantity(string(self.dataVolume.size))) || quantity(string(self.dataVolume.size)).compareTo(quantity(string(oldSelf.dataVolume.size))) >= 0))",message="dataVolume.size can only grow: a volume cannot shrink"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.dataVolume) || !has(oldSelf.dataVolume.storageClassName) || (has(self.dataVolume) && has(self.dataVolume.storageClassName) && self.dataVolume.storageClassName == oldSelf.dataVolume.storageClassName)",message="dataVolume.storageClassName cannot change: a volume keeps its class; make a new SeiNode"
// +kubebuilder:validation:XValidation:rule="(has(oldSelf.dataVolume) && has(oldSelf.dataVolume.storageClassName)) || !has(self.dataVolume) || !has(self.dataVolume.storageClassName)",message="dataVolume.storageClassName cannot be added later: a volume keeps the class it was made with; make a new SeiNode"
// +kubebuilder:validation:XValidation:rule="!has(self.upgrades) || size(self.upgrades) == 0 || self.upgrades[0].image != self.image",message="the first entry of upgrades has the image of spec.image: that is the image before the upgrade; name the image of the release for the upgrade"
// +kubebuilder:validation:XValidation:rule="!has(self.extraVolumeMounts) || self.extraVolumeMounts.all(m, has(self.extraVolumes) && self.extraVolumes.exists(v, v.name == m.name))",message="extraVolumeMounts names a volume that extraVolumes does not have: add it there or correct the name"
// +kubebuilder:validation:XValidation:rule="!has(self.extraEnv) || self.extraEnv.all(e, !has(e.valueFrom) || !has(e.valueFrom.secretKeyRef) || !(e.valueFrom.secretKeyRef.name in [has(self.validator) && has(self.validator.signingKey) ? self.validator.signingKey.secret.secretName : '-', has(self.validator) && has(self.validator.nodeKey) ? self.validator.nodeKey.secret.secretName : '-', has(self.seed) ? self.seed.nodeKey.secret.secretName : '-', has(self.validator) && has(self.validator.operatorKeyring) && has(self.validator.operatorKeyring.secret) ? self.validator.operatorKeyring.secret.secretName : '-', has(self.validator) && has(self.validator.operatorKeyring) && has(self.validator.operatorKeyring.secret) ? self.validator.operatorKeyring.secret.passphraseSecretRef.secretName : '-']))",message="extraEnv takes a value from a Secret with a key or passphrase of the node: keys are in no environment; remove the entry"
// +kubebuilder:validation:XValidation:rule="!has(self.extraVolumes) || self.extraVolumes.all(v, (!has(v.secret) || !(v.secret.secretName in [has(self.validator) && has(self.validator.signingKey) ? self.validator.signingKey.secret.secretName : '-', has(self.validator) && has(self.validator.nodeKey) ? self.validator.nodeKey.secret.secretName : '-', has(self.seed) ? self.seed.nodeKey.secret.secretName : '-', has(self.validator) && has(self.validator.operatorKeyring) && has(self.validator.operatorKeyring.secret) ? self.validator.operatorKeyring.secret.secretName : '-', has(self.validator) && has(self.validator.operatorKeyring) && has(self.validator.operatorKeyring.secret) ? self.validator.operatorKeyring.secret.passphraseSecretRef.secretName : '-'])) && (!has(v.projected) || v.projected.sources.all(s, !has(s.secret) || !(s.secret.name in [has(self.validator) && has(self.validator.signingKey) ? self.validator.signingKey.secret.secretName : '-', has(self.validator) && has(self.validator.nodeKey) ? self.validator.nodeKey.secret.secretName : '-', has(self.seed) ? self.seed.nodeKey.secret.secretName : '-', has(self.validator) && has(self.validator.operatorKeyring) && has(self.validator.operatorKeyring.secret) ? self.validator.operatorKeyring.secret.secretName : '-', has(self.validator) && has(self.validator.operatorKeyring) && has(self.validator.operatorKeyring.secret) ? self.validator.operatorKeyring.secret.passphraseSecretRef.secretName : '-']))))",message="extraVolumes has a Secret with a key or passphrase of the node: seid and the sidecar have what they need of it; remove the volume"
type SeiNodeSpec struct {
	// chainId is the chain the node belongs to, for example pacific-1. It
	// cannot change.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="chainId cannot change: the data of one chain does not fit another; make a new SeiNode"
	ChainID string `json:"chainId"`
	// image is the container image with seid that runs before the first entry of upgrades.
	// Changing it replaces the pod, unless an entry is in force.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`
	// upgrades say which image belongs to which upgrade of the chain, oldest first. An entry alone
	// restarts nothing: the node takes its image when it has stopped for the upgrade.
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:XValidation:rule="self.all(u, self.exists_one(v, v.name == u.name))",message="two entries of upgrades have the same name: the chain applies a name once; remove one of them"
	// +kubebuilder:validation:XValidation:rule="self.filter(u, has(u.height)).map(u, u.height).isSorted() && self.filter(u, has(u.height)).all(u, self.exists_one(v, has(v.height) && v.height == u.height))",message="the heights of upgrades do not rise from entry to entry: list them oldest first, each with a height of its own"
	// +kubebuilder:validation:XValidation:rule="self.all(i, u, i == 0 || self[i - 1].image != u.image)",message="an entry of upgrades has the image of the entry before it: an image that stopped for the upgrade does not have it; name the image of the release for this upgrade"
	// +listType=atomic
	// +optional
	Upgrades []ChainUpgrade `json:"upgrades,omitempty"`
	// peers are the sources of the node's persistent peers. They are resolved
	// again whenever they may have changed.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	Peers []PeerSource `json:"peers,omitempty"`
	// overrides change single settings of the node over the defaults of its
	// mode. Keys are dotted unified keys (evm.http_port, storage.pruning) or raw
	// ones (config.toml:p2p.pex, app.toml:api.enable). What decides how the node signs
	// blocks, the mode and everything below priv_validator, cannot be set.
	// +kubebuilder:validation:MaxProperties=1024
	// +kubebuilder:validation:XValidation:rule="!('mode' in self || 'config.toml:mode' in self || 'app.toml:sei.mode' in self)",message="overrides cannot set the mode: it is the field that selects it, one of fullNode, archive, replayer, validator and seed; remove the override"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('priv_validator.') && !k.startsWith('config.toml:priv-validator'))",message="overrides cannot set what is below priv_validator: a validator whose key, signing state or signer is elsewhere may sign a height twice; remove the override"
	// +optional
	Overrides map[string]string `json:"overrides,omitempty"`
	// sidecar configures the sidecar container.
	// +optional
	Sidecar *SidecarSpec `json:"sidecar,omitempty"`
	// podLabels are added to the pod. Keys of sei.io are the operator's.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('sei.io/'))",message="podLabels of sei.io are the operator's: Services, monitors and peers select pods by them; take a key of your own, for example example.com/team"
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && !format.qualifiedName().validate(k).hasValue())",message="a key of podLabels is not a label key: write up to 63 letters, digits, '-', '_' and '.', a letter or digit first and last, and before it at most one DNS name and '/', for example team or example.com/team"
	// +optional
	PodLabels map[string]LabelValue `json:"podLabels,omitempty"`
	// podAnnotations are added to the pod. Keys of sei.io are the operator's.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('sei.io/'))",message="podAnnotations of sei.io are the operator's: it tells by them what a pod was made from; take a key of your own, for example example.com/team"
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && !format.qualifiedName().validate(k.lowerAscii()).hasValue())",message="a key of podAnnotations is not an annotation key: write up to 63 letters, digits, '-', '_' and '.', a letter or digit first and last, and before it at most one DNS name and '/', for example team or example.com/team"
	// +optional
	PodAnnotations map[string]AnnotationValue `json:"podAnnotations,omitempty"`
	// imagePullSecrets name Secrets of the node's namespace with credentials for the registries of
	// its images, besides those of the pod's service account.
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(s, self.exists_one(t, t.name == s.name))",message="imagePullSecrets names a Secret twice: remove one of the entries"
	// +listType=atomic
	// +optional
	ImagePullSecrets []ImagePullSecret `json:"imagePullSecrets,omitempty"`
	// extraEnv are variables added to the environment of seid, in the pod and in its bootstrap Job.
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(e, self.exists_one(f, f.name == e.name))",message="extraEnv has a variable twice: remove one of the entries"
	// +listType=atomic
	// +optional
	ExtraEnv []ExtraEnvVar `json:"extraEnv,omitempty"`
	// extraVolumes are volumes that extraVolumeMounts give to seid.
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(v, self.exists_one(w, w.name == v.name))",message="extraVolumes has a name twice: rename one of the volumes"
	// +listType=atomic
	// +optional
	ExtraVolumes []ExtraVolume `json:"extraVolumes,omitempty"`
	// extraVolumeMounts are where the container of seid has extraVolumes, in the pod and in its
	// bootstrap Job. The sidecar does not get them.
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(m, self.exists_one(n, n.mountPath == m.mountPath))",message="extraVolumeMounts has a mountPath twice: remove one of the entries"
	// +listType=atomic
	// +optional
	ExtraVolumeMounts []ExtraVolumeMount `json:"extraVolumeMounts,omitempty"`
	// dataVolume configures the volume the node lives on.
	// +optional
	DataVolume *DataVolumeSpec `json:"dataVolume,omitempty"`

	// fullNode makes this a full node.
	// +optional
	FullNode *FullNodeSpec `json:"fullNode,omitempty"`
	// archive makes this an archive node.
	// +optional
	Archive *ArchiveSpec `json:"archive,omitempty"`
	// replayer makes this a replayer.
	// +optional
	Replayer *ReplayerSpec `json:"replayer,omitempty"`
	// validator makes this a validator.
	// +optional
	Validator *ValidatorSpec `json:"validator,omitempty"`
	// seed makes this a seed node.
	// +optional
	Seed *SeedSpec `json:"seed,omitempty"`

	// externalAddress is the host:port that nodes outside the cluster reach this one at. Nodes
	// that find it by label use its name inside the cluster.
	// +kubebuilder:validation:MaxLength=261
	// +kubebuilder:validation:Pattern=`^([^\s:/,@]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}$`
	// +optional
	ExternalAddress string `json:"externalAddress,omitempty"`
	// p2pHostPort opens the peer-to-peer port under this number on the machine that the pod runs
	// on. The namespace must allow it: the Pod Security levels baseline and restricted do not.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	P2PHostPort int32 `json:"p2pHostPort,omitempty"`
	// paused stops the pod and freezes plans. The volume stays.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// resources of the seid container: cpu, memory and ephemeral-storage.
	// Default: the operator's configuration for the mode.
	// +kubebuilder:validation:XValidation:rule="!has(self.limits) || size(self.limits) == ['cpu', 'memory', 'ephemeral-storage'].filter(k, k in self.limits && size(string(self.limits[k])) <= 24 && (string(self.limits[k]).lowerAscii().indexOf('e') == -1 || string(self.limits[k]).lowerAscii().indexOf('e') >= size(string(self.limits[k])) - 3) && isQuantity(string(self.limits[k]))).size()",message="limits hold quantities of cpu, memory and ephemeral-storage, for example cpu: 500m and memory: 2Gi"
	// +kubebuilder:validation:XValidation:rule="!has(self.requests) || size(self.requests) == ['cpu', 'memory', 'ephemeral-storage'].filter(k, k in self.requests && size(string(self.requests[k])) <= 24 && (string(self.requests[k]).lowerAscii().indexOf('e') == -1 || string(self.requests[k]).lowerAscii().indexOf('e') >= size(string(self.requests[k])) - 3) && isQuantity(string(self.requests[k]))).size()",message="requests hold quantities of cpu, memory and ephemeral-storage, for example cpu: 500m and memory: 2Gi"
	// +kubebuilder:validation:XValidation:rule="!has(self.claims) || size(self.claims) == 0",message="claims of resources are not given to the pod, which has no resourceClaims: remove them"
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// scheduling places the pod, over the defaults of the operator's configuration.
	// +optional
	Scheduling *SchedulingSpec `json:"scheduling,omitempty"`
}

// LabelValue is the value of a label.
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="!format.labelValue().validate(self).hasValue()",message="this is not a label value: write up to 63 letters, digits, '-', '_' and '.', a letter or digit first and last, or leave it empty"
type LabelValue string

// AnnotationValue is the value of an annotation.
// +kubebuilder:validation:MaxLength=2048
type AnnotationValue string

// ImagePullSecret names a Secret with credentials for a registry.
type ImagePullSecret struct {
	// name of the Secret, of type kubernetes.io/dockerconfigjson.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="this is not the name of a Secret: write lower-case letters, digits, '-' and '.', a letter or digit first and last, for example registry-credentials"
	Name string `json:"name"`
}

// SidecarSpec configures the sidecar container.
type SidecarSpec struct {
	// image of the sidecar. Empty means the operator's default.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Image string `json:"image,omitempty"`
	// port the sidecar listens on. It cannot be one of those that seid listens on.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +kubebuilder:validation:XValidation:rule="!(self in [1317, 8545, 8546, 9090, 26656, 26657, 26660])",message="sidecar.port is one that seid listens on in the same pod: take another, or leave it out for 7777"
	// +kubebuilder:default=7777
	// +optional
	Port int32 `json:"port,omitempty"`
	// resources of the sidecar container.
	// +kubebuilder:validation:XValidation:rule="!has(self.limits) || size(self.limits) == ['cpu', 'memory', 'ephemeral-storage'].filter(k, k in self.limits && size(string(self.limits[k])) <= 24 && (string(self.limits[k]).lowerAscii().indexOf('e') == -1 || string(self.limits[k]).lowerAscii().indexOf('e') >= size(string(self.limits[k])) - 3) && isQuantity(string(self.limits[k]))).size()",message="limits hold quantities of cpu, memory and ephemeral-storage, for example cpu: 500m and memory: 2Gi"
	// +kubebuilder:validation:XValidation:rule="!has(self.requests) || size(self.requests) == ['cpu', 'memory', 'ephemeral-storage'].filter(k, k in self.requests && size(string(self.requests[k])) <= 24 && (string(self.requests[k]).lowerAscii().indexOf('e') == -1 || string(self.requests[k]).lowerAscii().indexOf('e') >= size(string(self.requests[k])) - 3) && isQuantity(string(self.requests[k]))).size()",message="requests hold quantities of cpu, memory and ephemeral-storage, for example cpu: 500m and memory: 2Gi"
	// +kubebuilder:validation:XValidation:rule="!has(self.claims) || size(self.claims) == 0",message="claims of resources are not given to the pod, which has no resourceClaims: remove them"
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
}

// VolumeDeletionPolicy says what becomes of a volume with its node.
// +kubebuilder:validation:Enum=Delete;Retain
type VolumeDeletionPolicy string

// The deletion policies, of volumes and of fleets.
const (
	VolumeDelete VolumeDeletionPolicy = "Delete"
	VolumeRetain VolumeDeletionPolicy = "Retain"
)

// DataVolumeSpec configures the volume a node lives on.
// +kubebuilder:validation:XValidation:rule="!has(self.__import__) || !(has(self.size) || has(self.storageClassName) || has(self.deletionPolicy) || has(self.retention))",message="an imported volume is taken as it is and never deleted: remove size, storageClassName, deletionPolicy and retention"
// +kubebuilder:validation:XValidation:rule="!has(self.retention) || !has(self.deletionPolicy)",message="set retention or deletionPolicy: deletionPolicy means both whenDeleted and whenScaled of retention"
// +kubebuilder:validation:XValidation:rule="!has(self.size) || (size(string(self.size)) <= 24 && (string(self.size).lowerAscii().indexOf('e') == -1 || string(self.size).lowerAscii().indexOf('e') >= size(string(self.size)) - 3) && isQuantity(string(self.size)) && quantity(string(self.size)).isGreaterThan(quantity('0')))",message="dataVolume.size must be a quantity of more than zero, for example 500Gi"
type DataVolumeSpec struct {
	// import takes over an existing PersistentVolumeClaim with its data.
	// +optional
	Import *ImportVolume `json:"import,omitempty"`
	// size of the volume. It may only grow; the claim is resized if its storage
	// class allows. Default: the operator's configuration for the mode.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// storageClassName of the claim. Default: the operator's configuration for the mode.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	StorageClassName *string `json:"storageClassName,omitempty"`
	// deletionPolicy says whether the claim goes (Delete) or stays (Retain) with
	// the SeiNode, however that is removed. It is the short form of retention.
	// +optional
	DeletionPolicy VolumeDeletionPolicy `json:"deletionPolicy,omitempty"`
	// retention says whether the claim goes (Delete) or stays (Retain), by what
	// becomes of the SeiNode. Default: Retain for validators and archives, Delete
	// for other modes. Imported claims always stay.
	// +optional
	Retention *VolumeRetention `json:"retention,omitempty"`
}

// VolumeRetention says what becomes of a volume, by what becomes of its node.
type VolumeRetention struct {
	// whenDeleted applies when the SeiNode is deleted, by itself or with its fleet.
	// +optional
	WhenDeleted VolumeDeletionPolicy `json:"whenDeleted,omitempty"`
	// whenScaled applies when a fleet removes the SeiNode because it was scaled down.
	// +optional
	WhenScaled VolumeDeletionPolicy `json:"whenScaled,omitempty"`
}

// ImportVolume names a claim to take over.
type ImportVolume struct {
	// pvcName is the name of a PersistentVolumeClaim in the node's namespace.
	// It cannot change.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="pvcName cannot change: the node lives on that volume; make a new SeiNode"
	PVCName string `json:"pvcName"`
}

// SchedulingSpec places a pod.
// +kubebuilder:validation:XValidation:rule="!has(self.affinity) || ((!has(self.affinity.nodeAffinity) || !has(self.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution) || self.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.all(t, t.weight >= 1 && t.weight <= 100)) && (!has(self.affinity.podAffinity) || !has(self.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution) || self.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution.all(t, t.weight >= 1 && t.weight <= 100)) && (!has(self.affinity.podAntiAffinity) || !has(self.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution) || self.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.all(t, t.weight >= 1 && t.weight <= 100)))",message="the weight of a preference in affinity is a number from 1 to 100"
// +kubebuilder:validation:XValidation:rule="!has(self.topologySpreadConstraints) || self.topologySpreadConstraints.all(c, c.maxSkew >= 1 && c.maxSkew <= 10000 && (!has(c.minDomains) || (c.minDomains >= 1 && c.minDomains <= 10000)))",message="maxSkew and minDomains of a topology spread constraint are numbers from 1 to 10000"
type SchedulingSpec struct {
	// nodeSelector of the pod.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// tolerations of the pod.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// affinity of the pod.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// topologySpreadConstraints of the pod.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	// priorityClassName of the pod.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// SeiNode is one Sei node: its volume, its pod, its configuration, its keys.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=snode,categories=sei
// +kubebuilder:printcolumn:name="Chain",type=string,JSONPath=`.spec.chainId`
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.status.mode`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.status.currentImage`,priority=1
// +kubebuilder:printcolumn:name="Plan",type=string,JSONPath=`.status.conditions[?(@.type=="PlanInProgress")].message`,priority=1
// +kubebuilder:printcolumn:name="StatefulSet",type=string,JSONPath=`.status.statefulSet.name`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Problem",type=string,JSONPath=`.status.problem`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 52",message="the name is longer than 52 characters: the pod's labels and the node's Services are named after it and would pass 63"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.validator) || !has(self.spec.validator.signingKey) || !self.spec.validator.signingKey.secret.secretName.contains('$(ORDINAL)')",message="$(ORDINAL) means nothing in spec.validator.signingKey.secret.secretName of a single SeiNode: write the name of the Secret; only the template of a SeiNodeDeployment has ordinals"
// +kubebuilder:validation:XValidation:rule="(!has(self.spec.validator) || !has(self.spec.validator.nodeKey) || !self.spec.validator.nodeKey.secret.secretName.contains('$(ORDINAL)')) && (!has(self.spec.seed) || !self.spec.seed.nodeKey.secret.secretName.contains('$(ORDINAL)'))",message="$(ORDINAL) means nothing in nodeKey.secret.secretName of a single SeiNode: write the name of the Secret; only the template of a SeiNodeDeployment has ordinals"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.validator) || !has(self.spec.validator.operatorKeyring) || !has(self.spec.validator.operatorKeyring.secret) || !(self.spec.validator.operatorKeyring.secret.secretName + self.spec.validator.operatorKeyring.secret.passphraseSecretRef.secretName).contains('$(ORDINAL)')",message="$(ORDINAL) means nothing in the Secret names of spec.validator.operatorKeyring of a single SeiNode: write the names of the Secrets; only the template of a SeiNodeDeployment has ordinals"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="the name must start with a letter and hold only a-z, 0-9 and '-': the node's Service is named after it"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.upgrade) || !has(oldSelf.spec.upgrades) || oldSelf.spec.upgrades.all(u, (has(self.spec.upgrades) && self.spec.upgrades.exists(v, v.name == u.name)) || self.spec.image == u.image || !((has(oldSelf.status.upgrade.applied) && oldSelf.status.upgrade.applied.name == u.name) || (has(oldSelf.status.upgrade.entry) && oldSelf.status.upgrade.entry == u.name && oldSelf.status.upgrade.state != 'MovedEarly')))",message="an entry of spec.upgrades that is in force cannot be removed: the state on the volume needs its image; put it back under the same name and change its image if it is the wrong one, or make its image spec.image"
type SeiNode struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is wanted.
	// +required
	Spec SeiNodeSpec `json:"spec"`
	// status is what was observed. Its observedGeneration is -1 until an operator has looked.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status SeiNodeStatus `json:"status,omitempty"`
}

// SeiNodeList is a list of SeiNodes.
// +kubebuilder:object:root=true
type SeiNodeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SeiNode `json:"items"`
}
