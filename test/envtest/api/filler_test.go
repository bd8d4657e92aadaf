package api_test

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	v1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// newFiller fills our types with random values that the rules allow. Whatever
// has no rules gets anything at all.
func newFiller(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0.3).NumElements(1, 3).Funcs(
		// Foundations: values that are the same before and after JSON.
		func(t *metav1.Time, c randfill.Continue) { *t = metav1.Unix(int64(c.Int31())+1, 0) },
		func(d *metav1.Duration, c randfill.Continue) {
			d.Duration = time.Duration(c.Int31()) * time.Millisecond
		},
		func(q *resource.Quantity, c randfill.Continue) {
			*q = resource.MustParse(fmt.Sprintf("%dMi", c.Int31n(1<<20)+1))
		},
		func(j *apiextensionsv1.JSON, c randfill.Continue) {
			j.Raw = []byte([]string{`{"a":[1,"b",null]}`, `"text"`, `[true,-1.5]`, `123456789012345`}[c.Intn(4)])
		},
		func(s *string, c randfill.Continue) {
			*s = fmt.Sprintf("%x-%s", c.Uint32(), []string{"x", "ü", "日本", `"'\`}[c.Intn(4)])
		},
		func(i *intstr.IntOrString, c randfill.Continue) {
			*i = intstr.FromInt32(c.Int31n(100) + 1)
			if c.Bool() {
				*i = intstr.FromString(fmt.Sprintf("%d%%", c.Int31n(100)+1))
			}
		},
		func(c *metav1.Condition, r randfill.Continue) {
			*c = metav1.Condition{
				Type: fmt.Sprintf("T%x", r.Uint64()), Status: metav1.ConditionTrue, Reason: "Because", Message: "ü",
				ObservedGeneration: int64(r.Int31()), LastTransitionTime: metav1.Unix(int64(r.Int31())+1, 0),
			}
		},
		fillSpec, fillExtraEnv, fillExtraVolume, fillExtraItem, fillPeer, fillSnapshot, fillVolume, fillValidator, fillReplayer, fillGeneration, fillKey,
		func(p *v1.PeerAddress, c randfill.Continue) {
			*p = v1.PeerAddress(fmt.Sprintf("%040x@host-%d:%d", c.Uint64(), c.Uint32(), c.Intn(65535)+1))
		},
		func(h *v1.HostPort, c randfill.Continue) {
			*h = v1.HostPort(fmt.Sprintf("h%x:%d", c.Uint64(), c.Intn(65535)+1))
		},
		func(s *v1.SidecarSpec, c randfill.Continue) {
			c.FillNoCustom(s)
			s.Port = c.Int31n(1000) + 30000 // seid listens on none of these
		},
		func(p *v1.ImagePullSecret, c randfill.Continue) { p.Name = fmt.Sprintf("registry-%x", c.Uint64()) },
		func(r *corev1.ResourceRequirements, c randfill.Continue) {
			var cpu, memory resource.Quantity
			c.Fill(&cpu)
			c.Fill(&memory)
			r.Limits = corev1.ResourceList{corev1.ResourceMemory: memory}
			r.Requests = corev1.ResourceList{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory}
		},
		func(s *v1.SchedulingSpec, c randfill.Continue) {
			c.Fill(&s.NodeSelector)
			c.Fill(&s.Tolerations)
			c.Fill(&s.PriorityClassName)
		},
		fillDeployment, fillGenesis, fillTask,
		// The scale subresource wants no negative numbers.
		func(n *int32, c randfill.Continue) { *n = c.Int31() },
		func(p *v1.SeiNodePhase, c randfill.Continue) {
			*p = oneOf(c, v1.NodePending, v1.NodeInitializing, v1.NodeRunning, v1.NodeFailed, v1.NodeTerminating)
		},
		func(p *v1.SeiNodeDeploymentPhase, c randfill.Continue) {
			*p = oneOf(c, v1.DeploymentPending, v1.DeploymentUpgrading, v1.DeploymentDegraded, v1.DeploymentTerminating)
		},
		func(p *v1.SeiNodeTaskPhase, c randfill.Continue) {
			*p = oneOf(c, v1.NodeTaskPending, v1.NodeTaskRunning, v1.NodeTaskComplete, v1.NodeTaskFailed)
		},
		func(p *v1.PlanPhase, c randfill.Continue) {
			*p = oneOf(c, v1.PlanActive, v1.PlanComplete, v1.PlanFailed)
		},
		func(p *v1.TaskStatus, c randfill.Continue) {
			*p = oneOf(c, v1.TaskPending, v1.TaskRunning, v1.TaskComplete, v1.TaskFailed)
		},
		func(r *v1.RolloutReason, c randfill.Continue) {
			*r = oneOf(c, v1.RolloutTemplateChanged, v1.RolloutChainUpgrade)
		},
		func(p *v1.UpgradeType, c randfill.Continue) { *p = oneOf(c, v1.UpgradeMajor, v1.UpgradeMinor) },
		func(p *v1.UpgradeState, c randfill.Continue) {
			*p = oneOf(c, v1.UpgradeUpToDate, v1.UpgradeScheduled, v1.UpgradeMovedEarly, v1.UpgradeHalted, v1.UpgradeMoved, v1.UpgradeFailed)
		},
		func(p *v1.PlanOutcome, c randfill.Continue) {
			*p = oneOf(c, v1.OutcomeComplete, v1.OutcomeFailed, v1.OutcomeSuperseded)
		},
	)
}

func oneOf[T any](c randfill.Continue, values ...T) T { return values[c.Intn(len(values))] }

func fillSpec(s *v1.SeiNodeSpec, c randfill.Continue) {
	c.FillNoCustom(s)
	s.ChainID = fmt.Sprintf("chain-%d", c.Uint32())
	s.P2PHostPort = c.Int31n(65535) + 1
	s.ExternalAddress = fmt.Sprintf("host-%d:26656", c.Uint32())
	if c.Bool() {
		s.ExternalAddress = ""
	}
	for i := range s.Upgrades { // heights rise
		s.Upgrades[i].Height = int64(i+1)*1000 + int64(c.Int31n(1000))
	}
	if s.PodAnnotations != nil {
		s.PodAnnotations = map[string]v1.AnnotationValue{fmt.Sprintf("example.com/a%x", c.Uint32()): v1.AnnotationValue(fmt.Sprintf("ü %x", c.Uint32()))}
	}
	s.ExtraVolumeMounts = nil
	if len(s.ExtraVolumes) > 0 {
		s.ExtraVolumeMounts = []v1.ExtraVolumeMount{{Name: s.ExtraVolumes[0].Name, MountPath: fmt.Sprintf("/mnt/m%x", c.Uint32()), SubPath: v1.ExtraPath(fmt.Sprintf("ü/%x", c.Uint32()))}}
	}
	if s.PodLabels != nil {
		s.PodLabels = map[string]v1.LabelValue{fmt.Sprintf("example.com/l%x", c.Uint32()): v1.LabelValue(fmt.Sprintf("V_%x", c.Uint32()))}
	}
	if len(s.Peers) == 0 {
		s.Peers = []v1.PeerSource{{Label: &v1.LabelPeers{Selector: map[string]string{"a": "b"}}}}
	}
	s.FullNode, s.Archive, s.Replayer, s.Validator, s.Seed = nil, nil, nil, nil, nil
	mode := oneOf[any](c, &s.FullNode, &s.Archive, &s.Replayer, &s.Validator, &s.Seed)
	switch m := mode.(type) {
	case **v1.FullNodeSpec:
		*m = filled[v1.FullNodeSpec](c)
	case **v1.ArchiveSpec:
		*m = filled[v1.ArchiveSpec](c)
	case **v1.ReplayerSpec:
		*m = filled[v1.ReplayerSpec](c)
	case **v1.ValidatorSpec:
		*m = filled[v1.ValidatorSpec](c)
	case **v1.SeedSpec:
		*m = filled[v1.SeedSpec](c)
	}
}

func filled[T any](c randfill.Continue) *T {
	value := new(T)
	c.Fill(value)
	return value
}

func fillExtraEnv(e *v1.ExtraEnvVar, c randfill.Continue) {
	e.Name = fmt.Sprintf("X_%x", c.Uint64())
	switch c.Intn(3) {
	case 0:
		e.Value = fmt.Sprintf("ü %x", c.Uint32())
	case 1:
		e.ValueFrom = &v1.ExtraEnvSource{SecretKeyRef: &v1.ExtraSecretKeyRef{Name: "a-secret", Key: "a.b"}}
	default:
		e.ValueFrom = &v1.ExtraEnvSource{ConfigMapKeyRef: &v1.ExtraConfigMapKeyRef{Name: "a-map", Key: "a.b"}}
	}
}

func fillExtraVolume(v *v1.ExtraVolume, c randfill.Continue) {
	v.Name = fmt.Sprintf("v-%x", c.Uint64())
	switch c.Intn(5) {
	case 0:
		v.ConfigMap = &v1.ExtraConfigMap{Name: "a-map"}
		c.Fill(&v.ConfigMap.Items)
	case 1:
		v.Secret = &v1.ExtraSecret{SecretName: "a-secret"}
		c.Fill(&v.Secret.Items)
	case 2:
		v.EmptyDir = &v1.ExtraEmptyDir{Medium: "Memory", SizeLimit: "1Gi"}
	case 3:
		v.Projected = &v1.ExtraProjected{Sources: []v1.ExtraProjection{
			{ConfigMap: &v1.ExtraConfigMap{Name: "a-map"}}, {Secret: &v1.ExtraProjectedSecret{Name: "a-secret", Items: []v1.ExtraItem{*filled[v1.ExtraItem](c)}}},
		}}
	default:
		v.CSI = &v1.ExtraCSI{Driver: "a.example.com"}
		c.Fill(&v.CSI.VolumeAttributes)
	}
}

func fillExtraItem(i *v1.ExtraItem, c randfill.Continue) {
	i.Key, i.Path = v1.ExtraKey(fmt.Sprintf("k%x", c.Uint32())), v1.ExtraPath(fmt.Sprintf("ü/%x", c.Uint32()))
}

func fillPeer(p *v1.PeerSource, c randfill.Continue) {
	switch c.Intn(3) {
	case 0:
		p.Static = &v1.StaticPeers{Addresses: []v1.PeerAddress{*filled[v1.PeerAddress](c)}}
	case 1:
		p.Label = &v1.LabelPeers{Selector: map[string]string{"a": "ü"}, Namespace: "other"}
	default:
		p.EC2Tags = &v1.EC2TagPeers{Region: "eu-central-1", Tags: map[string]string{"Näme": "x"}}
	}
}

func fillSnapshot(s *v1.SnapshotSource, c randfill.Continue) {
	if c.Bool() {
		s.StateSync = &v1.StateSyncSnapshot{}
	} else {
		s.S3 = &v1.S3Snapshot{TargetHeight: c.Int63n(1<<40) + 1}
		s.BootstrapImage = "seid:v5"
	}
	s.TrustPeriod, s.BackfillBlocks = "168h0m0s", int64(c.Uint32())
	if c.Bool() {
		s.RPCServers = []v1.HostPort{*filled[v1.HostPort](c), *filled[v1.HostPort](c)}
	}
}

func fillReplayer(r *v1.ReplayerSpec, c randfill.Continue) {
	r.Snapshot = v1.SnapshotSource{S3: &v1.S3Snapshot{TargetHeight: c.Int63n(1<<40) + 1}}
	if c.Bool() {
		r.ResultExport = &v1.ResultExport{ShadowResult: filled[v1.ShadowResult](c)}
	}
}

func fillGeneration(g *v1.SnapshotGeneration, c randfill.Continue) {
	g.Tendermint = &v1.TendermintSnapshotGeneration{KeepRecent: c.Int31n(100) + 2}
	if c.Bool() {
		g.Tendermint.Publish = &v1.SnapshotPublish{Keep: c.Int31n(100) + 1}
	}
}

func fillVolume(d *v1.DataVolumeSpec, c randfill.Continue) {
	if c.Bool() {
		d.Import = &v1.ImportVolume{PVCName: fmt.Sprintf("claim.%d", c.Uint32())}
		return
	}
	d.Size, d.DeletionPolicy = filled[resource.Quantity](c), oneOf(c, v1.VolumeDelete, v1.VolumeRetain)
	if c.Bool() {
		d.DeletionPolicy = ""
		d.Retention = &v1.VolumeRetention{WhenDeleted: oneOf(c, v1.VolumeDelete, v1.VolumeRetain), WhenScaled: oneOf(c, v1.VolumeDelete, v1.VolumeRetain)}
	}
	d.StorageClassName = new("fast")
}

func fillKey(k *v1.KeySecret, c randfill.Continue) {
	k.SecretName = fmt.Sprintf("secret-%x", c.Uint64())
}

func fillValidator(v *v1.ValidatorSpec, c randfill.Continue) {
	switch c.Intn(3) {
	case 0:
		v.SigningKey, v.NodeKey = filled[v1.SigningKeySource](c), filled[v1.NodeKeySource](c)
		v.OperatorKeyring = &v1.OperatorKeyringSource{Secret: &v1.OperatorKeyringSecret{
			SecretName: "ring", KeyName: "admin", PassphraseSecretRef: v1.SecretKeyRef{SecretName: "pass", Key: "k"},
		}}
	case 1:
		v.GenesisCeremony = &v1.GenesisCeremonyMember{ChainID: "c", StakingAmount: "1usei", AccountBalance: "2usei", Index: c.Int31n(100)}
	default:
		v.Snapshot, v.OperatorKeyring = filled[v1.SnapshotSource](c), &v1.OperatorKeyringSource{}
	}
}

func fillDeployment(s *v1.SeiNodeDeploymentSpec, c randfill.Continue) {
	c.Fill(&s.Template)
	c.Fill(&s.Networking)
	if s.Networking.TCPEnabled() {
		s.Networking.TCP.FirstNodePort = c.Int31n(65436) + 1
	}
	s.Replicas, s.Paused, s.DeletionPolicy = 1, c.Bool(), oneOf(c, v1.VolumeDelete, v1.VolumeRetain)
	s.UpdateStrategy = &v1.UpdateStrategy{Type: v1.UpdateInPlace, InPlace: &v1.InPlaceUpdate{
		MaxUnavailable: filled[intstr.IntOrString](c), ProgressDeadlineSeconds: c.Int31n(1000) + 1,
		MinReadySeconds: new(c.Int31n(1000)), Partition: c.Int31n(100),
	}}
	s.Nodes = []v1.NodeSettings{{
		Ordinal: c.Int31n(100), Paused: new(c.Bool()), Overrides: map[string]string{"ü": "v"}, ExternalAddress: "h:1", Resources: &v1.NodeResources{Limits: &v1.ResourceAmounts{
			CPU: "500m", Memory: "2Gi", EphemeralStorage: "1",
		}},
	}}
	if s.Template.Spec.Validator != nil && s.Template.Spec.Validator.SigningKey == nil {
		s.Genesis = filled[v1.GenesisCeremony](c)
		s.Genesis.ChainID = s.Template.Spec.ChainID
	}
}

func fillGenesis(g *v1.GenesisCeremony, c randfill.Continue) {
	g.StakingAmount, g.AccountBalance = "5usei", "6usei,7uatom"
	g.MaxCeremonyDuration = filled[metav1.Duration](c)
	c.Fill(&g.Overrides)
	g.Accounts = []v1.GenesisAccount{{
		Address: "sei1" + strings.Repeat("q", 38), Balance: "1usei",
		Vesting: &v1.GenesisVesting{Amount: "1usei", EndTime: c.Int63n(1<<40) + 1, Delayed: c.Bool()},
	}}
}

func fillTask(s *v1.SeiNodeTaskSpec, c randfill.Continue) {
	s.Target = v1.TaskTarget{
		NodeRef: v1.NodeRef{Name: "rpc-0"}, RequirePhase: *filled[v1.SeiNodePhase](c), RequirePhaseTimeout: filled[metav1.Duration](c),
	}
	s.TimeoutSeconds = c.Int31n(1000)
	tx := v1.GovTx{ChainID: "c", KeyName: "k", Memo: "grüße", Fees: "1usei", Gas: c.Int63n(1<<40) + 1}
	switch s.Kind = oneOf(c, v1.TaskKindGovVote, v1.TaskKindGovSoftwareUpgrade, v1.TaskKindGovParamChange, v1.TaskKindAwaitCondition, v1.TaskKindStateSync); s.Kind {
	case v1.TaskKindGovVote:
		s.GovVote = &v1.GovVote{GovTx: tx, ProposalID: c.Int63n(1<<40) + 1, Option: "no-with-veto"}
	case v1.TaskKindGovSoftwareUpgrade:
		s.GovSoftwareUpgrade = &v1.GovSoftwareUpgrade{GovTx: tx, Title: "t", Description: "ü", UpgradeName: "v7", UpgradeHeight: 9, UpgradeInfo: "i", InitialDeposit: "1usei"}
	case v1.TaskKindGovParamChange:
		s.GovParamChange = &v1.GovParamChange{GovTx: tx, Title: "t", Description: "d", InitialDeposit: "1usei",
			Changes: []v1.ParamChange{{Subspace: "gov", Key: "k", Value: *filled[apiextensionsv1.JSON](c)}}}
	case v1.TaskKindAwaitCondition:
		s.AwaitCondition = &v1.AwaitCondition{Height: &v1.HeightCondition{TargetHeight: 7}, Action: "SIGTERM_SEID"}
	default:
		s.StateSync = &v1.StateSyncTask{RPCServers: []v1.HostPort{*filled[v1.HostPort](c), *filled[v1.HostPort](c)}}
	}
}
