package gate

import (
	"errors"
	"fmt"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// errChanged is what seid is not started for: what was agreed to is not what is there any more.
var errChanged = errors.New("changed after seid was let through; all is compared again")

// basis is what seid is let through with. The sidecar may write another configuration, and the kubelet
// another key, while the gate is busy with what takes time.
type basis struct {
	// config is the digest of the configuration on disk.
	config string
	// signs is the address that seid would sign with, and key the key as it is.
	signs string
	key   supervision.Key
}

func digestOf(dir string) (string, error) {
	files, err := config.Read(home.Dir(dir).Config())
	if err != nil {
		return "", err
	}
	return files.Digest()
}

// unchanged says what is not as it was when seid was let through.
func (j *journal) unchanged() error {
	if j.Home == "" {
		return nil
	}
	signs, key, problem := signing(j.Home)
	digest, err := digestOf(j.Home)
	switch {
	case err != nil:
		return fmt.Errorf("the configuration %w: %w", errChanged, err)
	case problem != "" || digest != j.agreed.config:
		return fmt.Errorf("the configuration %w", errChanged)
	case signs != j.agreed.signs || key != j.agreed.key:
		return fmt.Errorf("the consensus key %w", errChanged)
	}
	return nil
}
