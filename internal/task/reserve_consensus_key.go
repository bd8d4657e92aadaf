package task

import (
	"context"
	"fmt"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// AnnotationHolder says in a reservation whose it is, for people.
const AnnotationHolder = "sei.io/reserved-for"

// labelHolderUID is the UID of the SeiNode a reservation belongs to.
const labelHolderUID = "sei.io/holder-uid"

// ReservationName is the name of the Lease that reserves a consensus address.
func ReservationName(address string) string {
	return "consensus-key-" + strings.ToLower(address)
}

// reserveConsensusKey makes sure that no other node of the cluster signs with the
// same key: two that do are slashed. The reservation is a Lease named after the
// key's address, so the API server itself lets only one node make it.
func reserveConsensusKey(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	address, outcome := signingAddress(ctx, env)
	if address == "" {
		return outcome
	}
	if was := env.Node.Status.ConsensusAddress; was != "" && was != address {
		return plan.Wait(v1alpha1.ReasonKeyChanged, fmt.Sprintf(
			"%s now holds consensus key %s; this node has signed with %s: restore the old key, or create a new SeiNode",
			keyPlace(env.Node), address, was), someTime)
	}
	holder, err := reserve(ctx, env, address)
	if err != nil {
		return APIOutcome("reserving the consensus key", err)
	}
	if holder != nil {
		return plan.Wait(v1alpha1.ReasonKeyInUse, fmt.Sprintf(
			"consensus key %s of %s is in use by SeiNode %s: delete that node, or give this one another key. "+
				"If that node no longer exists and its pod has certainly stopped, delete Lease %s in namespace %s",
			address, keyPlace(env.Node), holderName(holder), holder.Name, holder.Namespace), someTime)
	}
	env.Facts.ConsensusAddress = address
	return plan.Done("")
}

// signingAddress is the address of the key that the node signs with: the one in its Secret, or
// the one on its volume, which only the sidecar can tell.
func signingAddress(ctx context.Context, env *Env) (string, plan.Outcome) {
	name := env.Node.Spec.SigningKeySecret()
	if name == "" {
		return addressOnVolume(ctx, env)
	}
	secret, err := readSecret(ctx, env, name)
	if err != nil {
		return "", APIOutcome("reserving the consensus key", err)
	}
	key, err := consensusKey(secret.Data)
	if err != nil {
		return "", plan.Wait(v1alpha1.ReasonSigningKeyInvalid, fmt.Sprintf("Secret %s: %v", secret.Name, err), someTime)
	}
	return key.Address, plan.Outcome{}
}

func addressOnVolume(ctx context.Context, env *Env) (string, plan.Outcome) {
	if env.Document == nil {
		return "", waitForAnswer(env)
	}
	if env.level() < api.LevelNode {
		return "", plan.Done("an older sidecar does not report which key is on the volume")
	}
	// The document of this pass may be older than the step that made the key.
	now, err := env.Sidecar.Node(ctx)
	if err != nil {
		return "", sidecarError(env, "", err)
	}
	if now.Home.ConsensusAddress == "" {
		return "", plan.Done("the volume holds no consensus key")
	}
	return now.Home.ConsensusAddress, plan.Outcome{}
}

func keyPlace(node *v1alpha1.SeiNode) string {
	if name := node.Spec.SigningKeySecret(); name != "" {
		return "Secret " + name
	}
	return "the volume"
}

// reserve makes the reservation; it returns the existing one when it is another node's.
func reserve(ctx context.Context, env *Env, address string) (*coordinationv1.Lease, error) {
	now := metav1.NewMicroTime(env.Clock.Now())
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   env.ReservationNamespace,
			Name:        ReservationName(address),
			Labels:      map[string]string{labelHolderUID: string(env.Node.UID)},
			Annotations: map[string]string{AnnotationHolder: env.Node.Namespace + "/" + env.Node.Name},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: new(string(env.Node.UID)), AcquireTime: &now},
	}
	err := env.Client.Create(ctx, lease)
	if err == nil {
		return nil, nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("creating Lease %s: %w", lease.Name, err)
	}
	return otherHolder(ctx, env, address)
}

// otherHolder is the reservation of an address by another node; nil when it is this one's.
func otherHolder(ctx context.Context, env *Env, address string) (*coordinationv1.Lease, error) {
	existing, name := &coordinationv1.Lease{}, ReservationName(address)
	if err := env.Live.Get(ctx, client.ObjectKey{Namespace: env.ReservationNamespace, Name: name}, existing); err != nil {
		return nil, fmt.Errorf("reading Lease %s: %w", name, err)
	}
	if ptr.Deref(existing.Spec.HolderIdentity, "") == string(env.Node.UID) {
		return nil, nil
	}
	return existing, nil
}

func holderName(lease *coordinationv1.Lease) string {
	name := lease.Annotations[AnnotationHolder]
	if name == "" {
		name = "with uid " + ptr.Deref(lease.Spec.HolderIdentity, "unknown")
	}
	return name
}

// ReleaseConsensusKey gives a node's reservation back. The caller has made sure that
// the node's pod is gone. The reservation is found by its holder and not by status,
// which may have been lost between the reservation and the next status write.
func ReleaseConsensusKey(ctx context.Context, c client.Client, live client.Reader, namespace string, node *v1alpha1.SeiNode) error {
	leases := &coordinationv1.LeaseList{}
	err := live.List(ctx, leases, client.InNamespace(namespace), client.MatchingLabels{labelHolderUID: string(node.UID)})
	if err != nil {
		return fmt.Errorf("looking for consensus keys reserved for %s: %w", node.Name, err)
	}
	for i := range leases.Items {
		lease := &leases.Items[i]
		if ptr.Deref(lease.Spec.HolderIdentity, "") != string(node.UID) {
			continue
		}
		precondition := client.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion}
		if err := c.Delete(ctx, lease, precondition); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("releasing Lease %s: %w", lease.Name, err)
		}
	}
	return nil
}
