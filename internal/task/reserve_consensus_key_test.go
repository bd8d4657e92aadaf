package task

import (
	"context"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/seid/keys"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// The key of the test vectors of ed25519, as seid writes it.
const signingKey = `{"address":"21FE31DFA154A261626BF854046FD2271B7BED4B","pub_key":{"type":"tendermint/PubKeyEd25519","value":"11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="},` +
	`"priv_key":{"type":"tendermint/PrivKeyEd25519","value":"nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2DXWpgBgrEKt9VL/tPJZAc6DuFy89qmIyWvAhpo9wdRGg=="}}`

// keyEnv is a validator whose Secret holds the key, and whatever else is there.
func keyEnv(t *testing.T, there ...client.Object) (env *Env, address string) {
	t.Helper()
	key, err := keys.ParseConsensusKey([]byte(signingKey))
	if err != nil {
		t.Fatal(err)
	}
	node := &v1alpha1.SeiNode{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "val", UID: "node"}}
	node.Spec.Validator = &v1alpha1.ValidatorSpec{SigningKey: &v1alpha1.SigningKeySource{Secret: v1alpha1.KeySecret{SecretName: "signing"}}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "sei", Name: "signing"}}
	secret.Data = map[string][]byte{v1alpha1.SecretKeySigningKey: []byte(signingKey)}
	c := strict{Client: fake.NewClientBuilder().WithObjects(append(there, secret)...).Build()}
	return &Env{
		Client: c, Live: c, Node: node, Facts: &Facts{}, Clock: clocktesting.NewFakePassiveClock(time.Now()), ReservationNamespace: "ops",
	}, key.Address
}

// reservation is a Lease of an address; uid is its holder's.
func reservation(address, uid, holder string) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ops", Name: ReservationName(address), UID: "lease", Labels: map[string]string{labelHolderUID: uid},
			Annotations: map[string]string{AnnotationHolder: holder},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &uid},
	}
}

// C10, S1: a key is one node's, by uid, and a node has one key.
func TestReserveConsensusKey_IsOneNodesAndANodeHasOne(t *testing.T) {
	_, address := keyEnv(t)
	for name, c := range map[string]struct {
		there  []client.Object
		signed string
		// reason is what is waited for; empty: it is reserved.
		reason string
	}{
		"nobody has it":                              {},
		"the node has it already":                    {there: []client.Object{reservation(address, "node", "sei/val")}, signed: address},
		"another node has it":                        {there: []client.Object{reservation(address, "other", "sei/other")}, reason: v1alpha1.ReasonKeyInUse},
		"an earlier node of the same name has it":    {there: []client.Object{reservation(address, "earlier", "sei/val")}, reason: v1alpha1.ReasonKeyInUse},
		"the node has signed with another key":       {signed: "0A0A", reason: v1alpha1.ReasonKeyChanged},
		"the same, and the new key is free for many": {there: []client.Object{reservation("0A0A", "node", "sei/val")}, signed: "0A0A", reason: v1alpha1.ReasonKeyChanged},
	} {
		env, _ := keyEnv(t, c.there...)
		env.Node.Status.ConsensusAddress = c.signed
		o := reserveConsensusKey(t.Context(), env, nil)
		if o.Reason != c.reason || o.IsDone() != (c.reason == "") {
			t.Errorf("%s: %+v, want Reason %v and done: %t", name, o, c.reason, c.reason == "")
		}
		if reserved := env.Facts.ConsensusAddress == address; reserved != (c.reason == "") {
			t.Errorf("%s: the report hears of %q", name, env.Facts.ConsensusAddress)
		}
		lease := &coordinationv1.Lease{}
		err := env.Live.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: ReservationName(address)}, lease)
		if c.reason == "" && (err != nil || *lease.Spec.HolderIdentity != "node") {
			t.Errorf("%s: reserved for %v, %v", name, lease.Spec.HolderIdentity, err)
		}
	}
}

// A key in a Secret that is being deleted is about to be gone from the pod.
func TestReadSecret_ThatIsBeingDeleted_IsNotThere(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "sei", Name: "leaving", DeletionTimestamp: new(metav1.Now()), Finalizers: []string{"a/b"},
	}}
	env, _ := keyEnv(t, secret)
	if _, err := readSecret(t.Context(), env, "leaving"); !apierrors.IsNotFound(err) {
		t.Errorf("error %v", err)
	}
	if _, err := readSecret(t.Context(), env, "signing"); err != nil {
		t.Error(err)
	}
}

// changing gives a Lease to another node after it was listed.
type changing struct{ client.Reader }

func (c changing) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	err := c.Reader.List(ctx, list, o...)
	if leases, ok := list.(*coordinationv1.LeaseList); ok {
		for i := range leases.Items {
			leases.Items[i].ResourceVersion = "0" // as it was before
		}
	}
	return err
}

// C10: a deleted node gives back what it holds, and nothing that has another holder by now.
func TestReleaseConsensusKey_OnlyWhatTheNodeHolds(t *testing.T) {
	taken := reservation("0B0B", "other", "sei/other")
	taken.Labels[labelHolderUID] = "node" // somebody edited the Lease and forgot the label
	env, address := keyEnv(t, taken)
	if o := reserveConsensusKey(t.Context(), env, nil); !o.IsDone() {
		t.Fatalf("outcome %+v, want it done", o)
	}
	if err := ReleaseConsensusKey(t.Context(), env.Client, changing{env.Live}, "ops", env.Node); !apierrors.IsConflict(err) {
		t.Errorf("of a Lease that has changed meanwhile: %v, want a conflict", err)
	}
	if err := ReleaseConsensusKey(t.Context(), env.Client, env.Live, "ops", env.Node); err != nil {
		t.Fatal(err)
	}
	left := &coordinationv1.LeaseList{}
	if err := env.Live.List(t.Context(), left); err != nil || len(left.Items) != 1 || !strings.HasSuffix(left.Items[0].Name, "0b0b") {
		t.Errorf("left %v, %v; want that of the other node alone, and not %s", left.Items, err, address)
	}
}

// A volume that is a copy of a validator's is not started on, whichever node it is given to.
func TestCopiedKey_HeldByAValidator_KeepsTheGateClosed(t *testing.T) {
	_, address := keyEnv(t)
	for name, c := range map[string]struct {
		there  []client.Object
		copied bool
	}{
		"of a live validator":    {[]client.Object{reservation(address, "other", "sei/other")}, true},
		"of nobody":              {nil, false},
		"reserved for this node": {[]client.Object{reservation(address, "node", "sei/val")}, false},
	} {
		env, _ := keyEnv(t, c.there...)
		env.Node.Spec.Validator, env.Node.Spec.FullNode = nil, &v1alpha1.FullNodeSpec{}
		env.Node.Spec.DataVolume = &v1alpha1.DataVolumeSpec{Import: &v1alpha1.ImportVolume{PVCName: "copy"}}
		env.Observed, env.Document = &Objects{}, &api.Node{APILevel: api.LevelNode}
		env.Document.Home.ConsensusAddress = address
		o, copied := copiedKey(t.Context(), env)
		if copied != c.copied || copied && o.Reason != v1alpha1.ReasonKeyInUse {
			t.Errorf("%s: %t, %+v, want %t, and then %s", name, copied, o, c.copied, v1alpha1.ReasonKeyInUse)
		}
	}
}
