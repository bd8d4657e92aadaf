package leaks

import (
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// keyFile is a signing key as seid writes it.
func keyFile(t *testing.T) (content, private []byte) {
	t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{0x5b, 0xa7}, 16))
	content, err := json.Marshal(map[string]any{
		"address":  "0A1B2C3D4E5F60718293A4B5C6D7E8F901234567",
		"pub_key":  map[string]string{"type": "tendermint/PubKeyEd25519", "value": base64.StdEncoding.EncodeToString(key[32:])},
		"priv_key": map[string]string{"type": "tendermint/PrivKeyEd25519", "value": base64.StdEncoding.EncodeToString(key)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return content, key
}

func TestFinder_APlantedLeak_IsFoundHoweverItIsWritten(t *testing.T) {
	content, private := keyFile(t)
	passphrase := []byte("correct horse battery staple")
	finder := &Finder{}
	finder.Add(Of("Secret a/key", "priv_validator_key.json", content)...)
	finder.Add(Of("Secret a/pass", "passphrase", append(passphrase, '\n'))...)
	for name, leak := range map[string]string{
		"a passphrase in a sentence":          "opening the keyring with " + string(passphrase) + ": no",
		"a passphrase as JSON data":           `{"data":"` + base64.StdEncoding.EncodeToString(passphrase) + `"}`,
		"a passphrase after one other byte":   base64.StdEncoding.EncodeToString([]byte("=" + string(passphrase) + "&")),
		"a passphrase after two other bytes":  base64.StdEncoding.EncodeToString([]byte("p=" + string(passphrase) + "&")),
		"a passphrase in hex":                 fmt.Sprintf("%x", passphrase),
		"a key in base64":                     "key " + base64.StdEncoding.EncodeToString(private),
		"a key in URL-safe base64":            "key " + base64.RawURLEncoding.EncodeToString(private),
		"a key in upper-case hex":             strings.ToUpper(hex.EncodeToString(private)),
		"the seed of a key alone":             hex.EncodeToString(private[:32]),
		"a key as raw bytes, as in a core":    "\x00\x00" + string(private) + "\x00",
		"the whole key file":                  "read " + string(content),
		"the whole key file in base64":        base64.StdEncoding.EncodeToString(content),
		"the whole key file quoted in a JSON": fmt.Sprintf("%q", content),
	} {
		if found := finder.Find("log", []byte("before "+leak+" after")); len(found) == 0 {
			t.Errorf("%s was not found", name)
		}
	}
}

func TestFinder_PublicParts_AreNoLeak(t *testing.T) {
	content, private := keyFile(t)
	finder := &Finder{}
	finder.Add(Of("Secret a/key", "priv_validator_key.json", content)...)
	finder.Add(Of("Secret a/tls", "ca.crt", []byte("-----BEGIN CERTIFICATE----- and so on"))...)
	finder.Add(Of("Secret a/short", "user", []byte("operator"))...)
	for _, text := range []string{
		"signs as 0A1B2C3D4E5F60718293A4B5C6D7E8F901234567",
		"public key " + base64.StdEncoding.EncodeToString(private[32:]),
		"tendermint/PubKeyEd25519",
		"-----BEGIN CERTIFICATE----- and so on",
		"operator",
	} {
		if found := finder.Find("log", []byte(text)); len(found) > 0 {
			t.Errorf("%q: %+v, want none", text, found)
		}
	}
}

func TestFinder_SecretsOfNobody_AreFoundByTheirShape(t *testing.T) {
	token := "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIiwic3ViIjoieCJ9." + strings.Repeat("a1_-", 20)
	for _, text := range []string{
		"Authorization: Bearer " + token,
		"-----BEGIN EC PRIVATE KEY-----",
		`"priv_key":{"type":"tendermint/PrivKeyEd25519","value":"x"}`,
		`\"type\": \"tendermint/PrivKeyEd25519\",\n \"value\": `,
		"It is the only way to recover your account if you ever forget your password.",
	} {
		if found := (&Finder{}).Find("log", []byte(text)); len(found) != 1 {
			t.Errorf("%q: %+v, want 1 of them", text, found)
		}
	}
}

// A report of a leak is read by many, so it must not be one.
func TestFinding_NeverShowsTheSecret(t *testing.T) {
	secret := "correct horse battery staple"
	finder := &Finder{}
	finder.Add(Of("Secret a/pass", "passphrase", []byte(secret))...)
	found := finder.Find("log", []byte(secret))
	if len(found) != 1 {
		t.Fatalf("found %d, want 1", len(found))
	}
	if shown := fmt.Sprintf("%+v", found); strings.Contains(shown, secret) || !strings.Contains(shown, "Secret a/pass") {
		t.Errorf("shown as %s", shown)
	}
}

func TestScanTree_LooksIntoEveryFile(t *testing.T) {
	secret := []byte("correct horse battery staple")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(secret); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	files := map[string][]byte{"clean": []byte("nothing"), "logs/0.log": secret, "reports/a.json.gz": packed.Bytes()}
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	finder, seen := &Finder{}, Seen{}
	finder.Add(Secret{"a passphrase", secret})
	found, err := finder.ScanTree(root, &seen)
	if err != nil || len(found) != 2 || seen.Files != len(files) {
		t.Errorf("found %+v in %+v, %v; want the log and the report", found, seen, err)
	}
}

func TestOf_Tokens_AreKnownByTheirSignature(t *testing.T) {
	signature := strings.Repeat("c2ln", 10)
	finder := &Finder{}
	finder.Add(Of("Secret a/token", "token", []byte("eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0."+signature))...)
	if found := finder.Find("log", []byte("signature "+signature)); len(found) == 0 {
		t.Error("the signature alone was not found")
	}
}
