package trial

import (
	"path/filepath"

	"github.com/sei-operator/sei-operator/internal/seid/config"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
)

// remembered is how many verdicts are kept.
const remembered = 32

// verdict is what came of a trial that tells something of the configuration.
type verdict struct {
	Digest      string `json:"digest"`
	SeidVersion string `json:"seidVersion"`
	Refused     string `json:"refused,omitempty"`
}

// subject is what a verdict is on.
type subject struct {
	files config.Files
	// digest is that of the files, and trial that of what a trial can judge of them.
	digest, trial string
}

func read(home string) (subject, error) {
	files, err := config.Read(filepath.Join(home, "config"))
	if err != nil {
		return subject{}, err
	}
	digest, err := files.Digest()
	if err != nil {
		return subject{}, err
	}
	trial, err := files.TrialDigest()
	return subject{files: files, digest: digest, trial: trial}, err
}

func verdictsFile(home string) string { return own(home, "trial", "verdicts.json") }

func verdicts(home string) ([]verdict, error) {
	var list []verdict
	_, err := load(verdictsFile(home), &list)
	return list, err
}

// known is the verdict on a subject, or nil.
func known(home string, s subject, version string) (*verdict, error) {
	list, err := verdicts(home)
	for _, v := range list {
		if v.Digest == s.trial && v.SeidVersion == version {
			return &v, nil
		}
	}
	return nil, err
}

func remember(home string, v verdict) error {
	list, err := verdicts(home)
	if err != nil {
		return err
	}
	fresh := []verdict{v}
	for _, other := range list {
		if (other.Digest != v.Digest || other.SeidVersion != v.SeidVersion) && len(fresh) < remembered {
			fresh = append(fresh, other)
		}
	}
	return store(verdictsFile(home), fresh)
}

// load reports whether there is such a file.
func load(path string, value any) (bool, error) { return durable.ReadJSON(path, value) }

func store(path string, value any) error { return durable.WriteJSON(path, value, 0o640) }
