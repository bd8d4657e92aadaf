package ceremony

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/plan"
	"github.com/sei-operator/sei-operator/internal/render"
)

var errNotAssembled = errors.New("the plan has no task that assembles a genesis")

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
	packed, err := verified(made.Genesis, made.GenesisHash)
	if err != nil {
		return plan.Retry(fmt.Errorf("%s: %w", env.Members[0].Name, err))
	}
	if latched := env.Fleet.Status.GenesisHash; latched != "" && latched != made.GenesisHash {
		return plan.Terminal(ReasonHashDiffers, fmt.Errorf("the genesis that %s gives has SHA-256 %s, but the chain began with %s: "+
			"put ConfigMap %s back from a copy", env.Members[0].Name, made.GenesisHash, latched, fleet.GenesisName(env.Fleet.Name)))
	}
	if len(packed) > maxStored {
		if env.Bucket == "" {
			return plan.Terminal(ReasonTooLarge, fmt.Errorf("the genesis takes %d bytes compressed, a ConfigMap holds at most %d: "+
				"set buckets.genesis in the operator's configuration, and nodes fetch it from there", len(packed), maxStored))
		}
		packed = nil // it is in the bucket; the ConfigMap vouches for its hash
	}
	env.Facts.Warnings = made.Warnings
	return apply(ctx, env, packed, made.GenesisHash)
}

func apply(ctx context.Context, env *Env, packed []byte, hash string) plan.Outcome {
	want := fleet.GenesisConfigMap(env.Fleet, packed, hash)
	err := env.Client.Apply(ctx, want, client.FieldOwner(v1alpha1.FieldOwnerSeiNodeDeployment), client.ForceOwnership)
	switch {
	case apierrors.IsInvalid(err):
		return plan.Terminal(ReasonHashDiffers, fmt.Errorf("storing ConfigMap %s: %w", fleet.GenesisName(env.Fleet.Name), err))
	case err != nil:
		return plan.Wait("APIUnavailable", fmt.Sprintf("storing ConfigMap %s: %v", fleet.GenesisName(env.Fleet.Name), err), shortly)
	}
	stored, err := render.Convert[corev1.ConfigMap](want)
	if err != nil {
		return plan.Retry(fmt.Errorf("reading the stored ConfigMap: %w", err))
	}
	env.Facts.Stored = stored
	return plan.Done("")
}

// verified unpacks a genesis and compares its hash.
func verified(encoded, hash string) ([]byte, error) {
	packed, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fmt.Errorf("decoding the genesis: %w", err)
	}
	zipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpacking the genesis: %w", err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(zipped, 256<<20)); err != nil {
		return nil, fmt.Errorf("unpacking the genesis: %w", err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != hash {
		return nil, fmt.Errorf("the genesis has SHA-256 %s, not %s as its maker says", got, hash)
	}
	return packed, nil
}
