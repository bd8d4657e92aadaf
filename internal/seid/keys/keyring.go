package keys

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The file endings of a file keyring: a named record, and an address that
// points to a record.
const (
	recordSuffix  = ".info"
	addressSuffix = ".address"
	// passphraseHash is where seid keeps the hash of the passphrase. Where it is
	// missing seid wants to write it, which it cannot in a mounted Secret.
	passphraseHash = "keyhash"
)

// Keyring is what can be reported a file keyring without its passphrase.
type Keyring struct {
	// KeyNames are the names of the records, sorted.
	KeyNames []string
}

// ParseKeyring checks the data of a Secret that is mounted as a file keyring:
// it must hold the record keyName, the address that leads to it and the hash of
// the passphrase. The records
// are encrypted, so nothing more can be checked without the passphrase.
func ParseKeyring(data map[string][]byte, keyName string) (Keyring, error) {
	var ring Keyring
	addresses := 0
	for _, name := range slices.Sorted(maps.Keys(data)) {
		record, isRecord := strings.CutSuffix(name, recordSuffix)
		isAddress := strings.HasSuffix(name, addressSuffix)
		switch {
		case !isRecord && !isAddress:
			continue
		case len(data[name]) == 0:
			return Keyring{}, fmt.Errorf("keyring: %s is empty", name)
		case isAddress:
			addresses++
		default:
			ring.KeyNames = append(ring.KeyNames, record)
		}
	}
	switch {
	case len(ring.KeyNames) == 0:
		return Keyring{}, fmt.Errorf("keyring: no record: want a data key <name>%s", recordSuffix)
	case addresses == 0:
		return Keyring{}, fmt.Errorf("keyring: no address: want a data key <address>%s", addressSuffix)
	case !slices.Contains(ring.KeyNames, keyName):
		return Keyring{}, fmt.Errorf("keyring: no record %s%s; there are: %s", keyName, recordSuffix, strings.Join(ring.KeyNames, ", "))
	case len(data[passphraseHash]) == 0:
		return Keyring{}, fmt.Errorf("keyring: no %s: make the Secret from all files of the keyring's directory", passphraseHash)
	}
	return ring, nil
}

// CheckPassphrase checks the passphrase entry of a Secret: it must be there and
// must not be empty.
func CheckPassphrase(data map[string][]byte, key string) error {
	value, ok := data[key]
	switch {
	case !ok:
		return fmt.Errorf("keyring passphrase: no data key %q", key)
	case strings.TrimSpace(string(value)) == "":
		return fmt.Errorf("keyring passphrase: data key %q is empty", key)
	}
	return nil
}
