package v1alpha1_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

func key(name string) v1alpha1.KeySecret { return v1alpha1.KeySecret{SecretName: name} }

// The accessors of every mode, side by side.
func TestSeiNodeSpec_Accessors(t *testing.T) {
	snapshot := &v1alpha1.SnapshotSource{StateSync: &v1alpha1.StateSyncSnapshot{}}
	generation := &v1alpha1.SnapshotGeneration{Tendermint: &v1alpha1.TendermintSnapshotGeneration{KeepRecent: 3}}
	ring := &v1alpha1.OperatorKeyringSecret{SecretName: "ring"}
	for name, c := range map[string]struct {
		spec                   v1alpha1.SeiNodeSpec
		role                   string
		hasSnapshot, generates bool
		signingKey, nodeKey    string
		hasRing                bool
	}{
		"full":         {spec: v1alpha1.SeiNodeSpec{FullNode: &v1alpha1.FullNodeSpec{Snapshot: snapshot, SnapshotGeneration: generation}}, role: "node", hasSnapshot: true, generates: true},
		"full, plain":  {spec: v1alpha1.SeiNodeSpec{FullNode: &v1alpha1.FullNodeSpec{}}, role: "node"},
		"archive":      {spec: v1alpha1.SeiNodeSpec{Archive: &v1alpha1.ArchiveSpec{SnapshotGeneration: generation}}, role: "archive", generates: true},
		"replayer":     {spec: v1alpha1.SeiNodeSpec{Replayer: &v1alpha1.ReplayerSpec{Snapshot: *snapshot}}, role: "replayer", hasSnapshot: true},
		"seed":         {spec: v1alpha1.SeiNodeSpec{Seed: &v1alpha1.SeedSpec{NodeKey: v1alpha1.NodeKeySource{Secret: key("id")}}}, role: "seed", nodeKey: "id"},
		"bare":         {spec: v1alpha1.SeiNodeSpec{Validator: &v1alpha1.ValidatorSpec{OperatorKeyring: &v1alpha1.OperatorKeyringSource{}}}, role: "validator"},
		"no mode, yet": {role: ""},
		"validator": {
			spec: v1alpha1.SeiNodeSpec{Validator: &v1alpha1.ValidatorSpec{
				Snapshot: snapshot, SigningKey: &v1alpha1.SigningKeySource{Secret: key("sign")}, NodeKey: &v1alpha1.NodeKeySource{Secret: key("id")},
				OperatorKeyring: &v1alpha1.OperatorKeyringSource{Secret: ring},
			}},
			role: "validator", hasSnapshot: true, signingKey: "sign", nodeKey: "id", hasRing: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &c.spec
			if s.Role() != c.role || (s.Snapshot() != nil) != c.hasSnapshot || (s.TendermintSnapshots() != nil) != c.generates {
				t.Errorf("role %q, snapshot %v, generation %v", s.Role(), s.Snapshot(), s.TendermintSnapshots())
			}
			if s.SigningKeySecret() != c.signingKey || s.NodeKeySecret() != c.nodeKey || (s.OperatorKeyringSecret() != nil) != c.hasRing {
				t.Errorf("signing key %q, node key %q, keyring %v", s.SigningKeySecret(), s.NodeKeySecret(), s.OperatorKeyringSecret())
			}
		})
	}
}

func TestImportedClaim_IsEmptyUnlessAVolumeIsImported(t *testing.T) {
	imported := v1alpha1.SeiNodeSpec{DataVolume: &v1alpha1.DataVolumeSpec{Import: &v1alpha1.ImportVolume{PVCName: "old"}}}
	if got := imported.ImportedClaim(); got != "old" {
		t.Errorf("got %q, want old", got)
	}
	for _, s := range []v1alpha1.SeiNodeSpec{{}, {DataVolume: &v1alpha1.DataVolumeSpec{}}} {
		if got := s.ImportedClaim(); got != "" {
			t.Errorf("got %q, want none", got)
		}
	}
}

func TestSigningUID_FollowsTheKeyring(t *testing.T) {
	withKey := func(name string) *v1alpha1.ValidatorSpec {
		return &v1alpha1.ValidatorSpec{OperatorKeyring: &v1alpha1.OperatorKeyringSource{Secret: &v1alpha1.OperatorKeyringSecret{KeyName: name}}}
	}
	for want, v := range map[string]*v1alpha1.ValidatorSpec{
		"mine": withKey("mine"), "node_admin": withKey(""), "validator": {OperatorKeyring: &v1alpha1.OperatorKeyringSource{}},
	} {
		if got := v.SigningUID(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := (*v1alpha1.ValidatorSpec)(nil).SigningUID(); got != "validator" {
		t.Errorf("without a validator: %q", got)
	}
}

func TestNetworking_AbsentIsPrivateAndEmptyIsHTTP(t *testing.T) {
	for name, c := range map[string]struct {
		spec      *v1alpha1.NetworkingSpec
		http, tcp bool
	}{
		"absent": {nil, false, false},
		"empty":  {&v1alpha1.NetworkingSpec{}, true, false},
		"http":   {&v1alpha1.NetworkingSpec{HTTP: &v1alpha1.HTTPNetworking{}}, true, false},
		"tcp":    {&v1alpha1.NetworkingSpec{TCP: &v1alpha1.TCPNetworking{}}, false, true},
		"both":   {&v1alpha1.NetworkingSpec{HTTP: &v1alpha1.HTTPNetworking{}, TCP: &v1alpha1.TCPNetworking{}}, true, true},
	} {
		if c.spec.HTTPEnabled() != c.http || c.spec.TCPEnabled() != c.tcp {
			t.Errorf("%s: http %v, tcp %v", name, c.spec.HTTPEnabled(), c.spec.TCPEnabled())
		}
	}
}

func TestScheme_KnowsEveryKind(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{v1alpha1.KindSeiNode, v1alpha1.KindSeiNodeDeployment, v1alpha1.KindSeiNodeTask} {
		for _, suffix := range []string{"", "List"} {
			if !scheme.Recognizes(v1alpha1.GroupVersion.WithKind(kind + suffix)) {
				t.Errorf("%s%s is not known", kind, suffix)
			}
		}
	}
}

func TestVolumeRetention_AskedForOrByTheMode(t *testing.T) {
	const del, keep = v1alpha1.VolumeDelete, v1alpha1.VolumeRetain
	full := v1alpha1.SeiNodeSpec{FullNode: &v1alpha1.FullNodeSpec{}}
	archive := v1alpha1.SeiNodeSpec{Archive: &v1alpha1.ArchiveSpec{}}
	validator := v1alpha1.SeiNodeSpec{Validator: &v1alpha1.ValidatorSpec{}}
	with := func(spec v1alpha1.SeiNodeSpec, v v1alpha1.DataVolumeSpec) v1alpha1.SeiNodeSpec {
		spec.DataVolume = &v
		return spec
	}
	for name, tc := range map[string]struct {
		spec            v1alpha1.SeiNodeSpec
		deleted, scaled v1alpha1.VolumeDeletionPolicy
	}{
		"full node":                 {full, del, del},
		"replayer":                  {v1alpha1.SeiNodeSpec{Replayer: &v1alpha1.ReplayerSpec{}}, del, del},
		"seed":                      {v1alpha1.SeiNodeSpec{Seed: &v1alpha1.SeedSpec{}}, del, del},
		"archive":                   {archive, keep, keep},
		"validator":                 {validator, keep, keep},
		"validator, size alone":     {with(validator, v1alpha1.DataVolumeSpec{}), keep, keep},
		"validator, short form":     {with(validator, v1alpha1.DataVolumeSpec{DeletionPolicy: del}), del, del},
		"full node, short form":     {with(full, v1alpha1.DataVolumeSpec{DeletionPolicy: keep}), keep, keep},
		"full node, one of the two": {with(full, v1alpha1.DataVolumeSpec{Retention: &v1alpha1.VolumeRetention{WhenDeleted: keep}}), keep, del},
		"archive, one of the two":   {with(archive, v1alpha1.DataVolumeSpec{Retention: &v1alpha1.VolumeRetention{WhenScaled: del}}), keep, del},
		"imported":                  {with(full, v1alpha1.DataVolumeSpec{Import: &v1alpha1.ImportVolume{PVCName: "x"}}), keep, keep},
	} {
		if got := tc.spec.VolumeRetention(); got.WhenDeleted != tc.deleted || got.WhenScaled != tc.scaled {
			t.Errorf("%s: %+v, want WhenDeleted %v and WhenScaled %v", name, got, tc.deleted, tc.scaled)
		}
	}
}
