package leaks

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"
)

// minLength is that of the shortest value that is looked for. Shorter ones are found by chance.
const minLength = 9

// Secret is something that must be written down nowhere.
type Secret struct {
	// Origin says where it belongs, for example Secret keys/signing-key, priv_key.value of priv_validator_key.json.
	Origin string
	Value  []byte
}

// public are the parts of key files that everybody may know, by the name of their field, and why.
var public = map[string]string{
	"address": "the hash of a public key",
	"pub_key": "a public key",
	"id":      "what peers call a node, the hash of a public key",
	"type":    "the name of a kind of key",
}

// publicFiles are the data keys of Secrets that hold nothing secret, and why.
var publicFiles = map[string]string{
	"ca.crt":    "a certificate",
	"tls.crt":   "a certificate",
	"namespace": "the name of the namespace, beside a service account's token",
}

// Of lists what is secret in the file of a Secret: the content, the values of a JSON document one by one, the lines
// of private keys.
func Of(origin, file string, content []byte) []Secret {
	if publicFiles[file] != "" {
		return nil
	}
	found := []Secret{{origin, bytes.TrimSpace(content)}}
	var document any
	if json.Unmarshal(content, &document) == nil {
		found = append(found, leaves(origin, document)...)
	}
	for rest := content; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if strings.Contains(block.Type, "PRIVATE KEY") {
			found = append(found, Secret{origin + ", " + block.Type, block.Bytes})
		}
	}
	if parts := strings.Split(string(bytes.TrimSpace(content)), "."); len(parts) == 3 && strings.HasPrefix(parts[0], "eyJ") {
		found = append(found, Secret{origin + ", signature of a token", []byte(parts[2])})
	}
	return longEnough(found)
}

// leaves are the strings of a JSON document, and what those say that are base64.
func leaves(origin string, document any) (found []Secret) {
	switch v := document.(type) {
	case map[string]any:
		for name, value := range v {
			if public[name] == "" {
				found = append(found, leaves(origin+", "+name, value)...)
			}
		}
	case []any:
		for _, value := range v {
			found = append(found, leaves(origin, value)...)
		}
	case string:
		found = append(found, Secret{origin, []byte(v)})
		if raw, err := base64.StdEncoding.DecodeString(v); err == nil {
			found = append(found, Secret{origin + ", decoded", raw})
			if len(raw) == 64 { // an Ed25519 key: the second half is the public one
				found = append(found, Secret{origin + ", seed", raw[:32]})
			}
		}
	}
	return found
}

func longEnough(secrets []Secret) (long []Secret) {
	for _, s := range secrets {
		if len(s.Value) >= minLength {
			long = append(long, s)
		}
	}
	return long
}
