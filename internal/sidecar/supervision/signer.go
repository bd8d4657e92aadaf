package supervision

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/seid/home"
	"github.com/sei-operator/sei-operator/internal/seid/keys"
)

// Signer is how the configuration on disk signs blocks.
type Signer struct {
	// Signs: seid signs when its key is in the validator set. Only validators do.
	Signs bool
	// Remote is the address on which seid waits for a signer that holds the key; with it
	// the key file is not used.
	Remote string
	// KeyFile is where seid looks for its key.
	KeyFile string
}

// SignerOf reads how a home's configuration signs.
func SignerOf(dir string) (Signer, error) {
	h := home.Dir(dir)
	files, err := config.Read(h.Config())
	if err != nil {
		return Signer{}, err
	}
	return Signer{Signs: config.Signs(files), Remote: config.RemoteSigner(files), KeyFile: config.SigningKey(files, h)}, nil
}

// SigningAddress is the address of the key that seid would sign with; empty when the
// configuration does not sign. It says why when that cannot be told.
func (s Signer) SigningAddress(k Key) (string, error) {
	switch {
	case !s.Signs:
		return "", nil
	case s.Remote != "":
		return "", fmt.Errorf("the configuration signs with the key of a remote signer at %s, whose address is not known", s.Remote)
	case k.Address != "":
		return k.Address, nil
	case k.Error != "":
		return "", errors.New(k.Error)
	}
	return "", errors.New("the consensus key has not been read yet")
}

// ReadKey looks at a key file. The answer depends on the container it is asked in.
func ReadKey(file string) Key {
	data, err := os.ReadFile(file) //nolint:gosec // where the node's configuration says
	if errors.Is(err, fs.ErrNotExist) {
		return Key{Error: "there is no consensus key: " + filepath.Base(file) + " does not exist"}
	}
	if err != nil {
		return Key{Error: "reading the consensus key: " + err.Error()}
	}
	key, err := keys.ParseConsensusKey(data)
	if err != nil {
		return Key{Error: err.Error()}
	}
	return Key{Address: key.Address}
}

// SigningAddress is the address that seid would sign with in this home, as seid's
// container sees it; empty when the configuration does not sign. ok is false while no
// gate is there that could tell.
func SigningAddress(dir string) (address string, ok bool, err error) {
	signer, err := SignerOf(dir)
	if err != nil {
		return "", false, err
	}
	if !signer.Signs || signer.Remote != "" {
		address, err = signer.SigningAddress(Key{})
		return address, true, err
	}
	watched, err := Watched(dir)
	if err != nil || !watched {
		return "", false, err
	}
	r, err := read(dir)
	if err != nil || r.Key == (Key{}) {
		return "", false, err
	}
	address, err = signer.SigningAddress(r.Key)
	return address, true, err
}
