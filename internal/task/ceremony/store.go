package ceremony

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/render"
)

var errNotAssembled = errors.New("the plan has no step that assembles a genesis")

// maxStored is what a ConfigMap holds at most.
const maxStored = 1 << 20

// storeGenesis keeps the genesis in a ConfigMap, where the validators and every other
// node of the chain in the namespace find it. What the sidecar says is verified: from
// here on the hash is what everybody trusts.
func storeGenesis(ctx context.Context, env *Env, _ *v1alpha1.PlannedTask) plan.Outcome {
	made, o := assembled(ctx, env)
	if !o.IsDone() {
		return o
	}
	packed, file, err := verified(made.Genesis, made.GenesisHash)
	if err != nil {
		return plan.Retry(fmt.Errorf("%s: %w", env.Members[0].Name, err))
	}
	if latched := env.Fleet.Status.GenesisHash; latched != "" && latched != file.Hash {
		return plan.Terminal(ReasonHashDiffers, fmt.Errorf("the genesis that %s gives has SHA-256 %s, but the chain started with %s",
			env.Members[0].Name, file.Hash, latched))
	}
	if o := onAnotherChain(ctx, env, file.Hash); !o.IsDone() {
		return o
	}
	env.Facts.Warnings = made.Warnings
	return store(ctx, env, packed, file)
}

// store makes the ConfigMap. One that is there already is never written to: a chain may run on
// what it holds.
func store(ctx context.Context, env *Env, packed []byte, file fleet.GenesisFile) plan.Outcome {
	if len(packed) > maxStored {
		if env.Bucket == "" {
			return plan.Terminal(ReasonTooLarge, fmt.Errorf("the genesis takes %d bytes compressed, a ConfigMap holds at most %d: "+
				"set buckets.genesis in the operator's configuration, and nodes fetch it from there", len(packed), maxStored))
		}
		packed = nil // it is in the bucket; the ConfigMap vouches for its hash
	}
	want, err := render.Convert[corev1.ConfigMap](fleet.GenesisConfigMap(env.Fleet, packed, file))
	if err != nil {
		return plan.Retry(fmt.Errorf("rendering ConfigMap %s: %w", fleet.GenesisName(env.Fleet.Name), err))
	}
	err = env.Client.Create(ctx, want, client.FieldOwner(v1alpha1.FieldOwnerSeiNodeDeployment))
	switch {
	case apierrors.IsAlreadyExists(err):
		return compare(ctx, env, want)
	case apierrors.IsInvalid(err):
		return plan.Terminal(ReasonGenesisConflict, fmt.Errorf("storing ConfigMap %s: %w", want.Name, err))
	case err != nil:
		return plan.Wait("APIUnavailable", fmt.Sprintf("storing ConfigMap %s: %v", want.Name, err), shortly)
	}
	env.Facts.Stored = want
	return plan.Done("")
}

// compare finds out whether the ConfigMap that is there is the one that was to be made.
func compare(ctx context.Context, env *Env, want *corev1.ConfigMap) plan.Outcome {
	live := &corev1.ConfigMap{}
	if err := env.Live.Get(ctx, client.ObjectKeyFromObject(want), live); err != nil {
		return plan.Wait("APIUnavailable", fmt.Sprintf("reading ConfigMap %s: %v", want.Name, err), soon)
	}
	problem := fleet.GenesisProblem(env.Fleet, live, "")
	if problem == "" {
		problem = fleet.GenesisProblem(env.Fleet, live, want.Annotations[v1alpha1.AnnotationGenesisHash])
	}
	if problem != "" {
		return plan.Terminal(ReasonGenesisConflict, errors.New(problem))
	}
	env.Facts.Stored = live
	return plan.Done("")
}

// verified unpacks a genesis and compares its hash.
func verified(encoded, hash string) ([]byte, fleet.GenesisFile, error) {
	packed, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fleet.GenesisFile{}, fmt.Errorf("decoding the genesis: %w", err)
	}
	file, err := fleet.ReadGenesis(packed)
	if err != nil {
		return nil, file, err
	}
	if file.Hash != hash {
		return nil, file, fmt.Errorf("the genesis has SHA-256 %s, not %s as the sidecar that made it reports", file.Hash, hash)
	}
	return packed, file, nil
}
