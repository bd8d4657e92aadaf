package wire

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// maxMoniker is the chain's own bound on a validator's name.
const maxMoniker = 70

var peerPattern = regexp.MustCompile(`^[0-9a-f]{40}@[^@,\s]+:[0-9]{1,5}$`)

// GenerateIdentity asks for the node's keys and name.
type GenerateIdentity struct {
	ChainID string `json:"chainId"`
	Moniker string `json:"moniker"`
}

// Validate checks what can be checked without the node.
func (p *GenerateIdentity) Validate() error {
	return first(chainID(p.ChainID), text("moniker", p.Moniker, maxMoniker))
}

// Identity is the result of generate-identity.
type Identity struct {
	NodeID string `json:"nodeId"`
	// ConsensusAddress is the address of the key the node signs blocks with.
	ConsensusAddress string `json:"consensusAddress"`
}

// GenerateGentx asks for the transaction that makes the node a genesis validator.
type GenerateGentx struct {
	ChainID        string `json:"chainId"`
	StakingAmount  string `json:"stakingAmount"`
	AccountBalance string `json:"accountBalance"`
}

// Validate checks what can be checked without the node.
func (p *GenerateGentx) Validate() error {
	return first(chainID(p.ChainID), usei("stakingAmount", p.StakingAmount), coins("accountBalance", p.AccountBalance))
}

// Gentx is the result of generate-gentx and export-gentx. It holds no secret.
type Gentx struct {
	// Gentx is the signed transaction.
	Gentx json.RawMessage `json:"gentx"`
	// NodeID is what peers call this node.
	NodeID string `json:"nodeId"`
	// Account is the address that owns the stake.
	Account string `json:"account"`
}

// UploadGenesisArtifacts asks to put the gentx and the node id into the bucket.
type UploadGenesisArtifacts struct {
	NodeName string `json:"nodeName"`
}

// Validate checks what can be checked without the node.
func (p *UploadGenesisArtifacts) Validate() error {
	return matches("nodeName", p.NodeName, namePattern, "a node name")
}

// Account is an account that the genesis should have besides the validators' own.
type Account struct {
	Address string   `json:"address"`
	Balance string   `json:"balance"`
	Vesting *Vesting `json:"vesting,omitempty"`
}

// Vesting locks part of an account's balance.
type Vesting struct {
	Amount string `json:"amount"`
	// EndTime is in seconds since 1970.
	EndTime int64 `json:"endTime"`
	// Delayed frees everything at the end instead of little by little.
	Delayed bool `json:"delayed,omitempty"`
}

func accountsValid(accounts []Account) error {
	seen := map[string]int{}
	for i, a := range accounts {
		at := fmt.Sprintf("accounts[%d].", i)
		err := first(matches(at+"address", a.Address, addressPattern, "a sei1 address"), coins(at+"balance", a.Balance))
		if err != nil {
			return err
		}
		if j, twice := seen[a.Address]; twice {
			return api.InvalidField(at+"address", "is the same as accounts[%d].address", j)
		}
		seen[a.Address] = i
		if v := a.Vesting; v != nil {
			if err := coins(at+"vesting.amount", v.Amount); err != nil {
				return err
			}
			if v.EndTime <= 0 {
				return api.InvalidField(at+"vesting.endTime", "has to be a time in seconds since 1970")
			}
		}
	}
	return nil
}

func overridesValid(overrides map[string]json.RawMessage) error {
	for path, value := range overrides {
		field := "overrides[" + path + "]"
		segments := strings.Split(path, ".")
		if len(segments) < 2 {
			return api.InvalidField(field, "is not of the form module.field")
		}
		if slices.Contains(segments, "") {
			return api.InvalidField(field, "has an empty segment")
		}
		if !json.Valid(value) {
			return api.InvalidField(field, "is not valid JSON")
		}
	}
	return nil
}

// AssembleGenesis asks to build a genesis from gentxs that are handed in.
type AssembleGenesis struct {
	// AccountBalance is what each validator's account starts with.
	AccountBalance string `json:"accountBalance"`
	// Gentxs are the results of export-gentx of every validator.
	Gentxs    []json.RawMessage          `json:"gentxs"`
	Accounts  []Account                  `json:"accounts,omitempty"`
	Overrides map[string]json.RawMessage `json:"overrides,omitempty"`
	// GenesisTime is when the chain starts; empty means when this home was made.
	GenesisTime string `json:"genesisTime,omitempty"`
}

// Validate checks what can be checked without the node.
func (p *AssembleGenesis) Validate() error {
	if len(p.Gentxs) == 0 {
		return api.InvalidField("gentxs", "at least one is required")
	}
	return first(coins("accountBalance", p.AccountBalance), accountsValid(p.Accounts),
		overridesValid(p.Overrides), genesisTime(p.GenesisTime))
}

func genesisTime(value string) error {
	if value == "" {
		return nil
	}
	if _, err := time.Parse(time.RFC3339, value); err != nil {
		return api.InvalidField("genesisTime", "%q is not an RFC 3339 time", value)
	}
	return nil
}

// AssembledGenesis is the result of assemble-genesis.
type AssembledGenesis struct {
	// Genesis is the file, compressed by gzip, in base64: what configure-genesis takes.
	Genesis string `json:"genesis"`
	// GenesisHash is the SHA-256 of the file in hex.
	GenesisHash string   `json:"genesisHash"`
	Warnings    []string `json:"warnings,omitempty"`
}

// NodeRef names a validator of the ceremony.
type NodeRef struct {
	Name string `json:"name"`
}

// AssembleAndUploadGenesis asks to build a genesis from what the validators put
// into the bucket, and to put it there for them.
type AssembleAndUploadGenesis struct {
	AccountBalance string                     `json:"accountBalance"`
	Namespace      string                     `json:"namespace"`
	Nodes          []NodeRef                  `json:"nodes"`
	Accounts       []Account                  `json:"accounts,omitempty"`
	Overrides      map[string]json.RawMessage `json:"overrides,omitempty"`
	GenesisTime    string                     `json:"genesisTime,omitempty"`
	// ExpectedGenesisHash keeps a genesis with another hash from being published.
	ExpectedGenesisHash string `json:"expectedGenesisHash,omitempty"`
}

// Validate checks what can be checked without the node.
func (p *AssembleAndUploadGenesis) Validate() error {
	if len(p.Nodes) == 0 {
		return api.InvalidField("nodes", "at least one is required")
	}
	seen := map[string]bool{}
	for i, n := range p.Nodes {
		field := fmt.Sprintf("nodes[%d].name", i)
		if err := matches(field, n.Name, namePattern, "a node name"); err != nil {
			return err
		}
		if seen[n.Name] {
			return api.InvalidField(field, "%q is there twice", n.Name)
		}
		seen[n.Name] = true
	}
	return first(coins("accountBalance", p.AccountBalance), matches("namespace", p.Namespace, namePattern, "a namespace"),
		accountsValid(p.Accounts), overridesValid(p.Overrides), genesisTime(p.GenesisTime), sha256Hex("expectedGenesisHash", p.ExpectedGenesisHash))
}

// UploadedGenesis is the result of assemble-and-upload-genesis.
type UploadedGenesis struct {
	GenesisHash string   `json:"genesisHash"`
	Warnings    []string `json:"warnings,omitempty"`
}

// ConfigureGenesis asks for the genesis file. Without Genesis it comes from the
// binary for chains the binary knows, and otherwise from the bucket.
type ConfigureGenesis struct {
	ExpectedGenesisHash string `json:"expectedGenesisHash,omitempty"`
	// Genesis is the file itself, compressed by gzip, in base64.
	Genesis string `json:"genesis,omitempty"`
}

// Validate checks what can be checked without the node.
func (p *ConfigureGenesis) Validate() error {
	return sha256Hex("expectedGenesisHash", p.ExpectedGenesisHash)
}

// ConfiguredGenesis is the result of configure-genesis.
type ConfiguredGenesis struct {
	GenesisHash string `json:"genesisHash"`
	// Source is embedded, inline or the object's address.
	Source string `json:"source"`
}

// ExportGenesis asks for the genesis file of this node.
type ExportGenesis struct {
	// ExpectedGenesisHash is the hash the file must have; empty means any.
	ExpectedGenesisHash string `json:"expectedGenesisHash,omitempty"`
}

// Validate checks what can be checked without the node.
func (p *ExportGenesis) Validate() error {
	return sha256Hex("expectedGenesisHash", p.ExpectedGenesisHash)
}

// ExportedGenesis is the result of export-genesis.
type ExportedGenesis struct {
	// Genesis is the file, compressed by gzip, in base64: what configure-genesis takes.
	Genesis string `json:"genesis"`
	// GenesisHash is the SHA-256 of the file in hex.
	GenesisHash string `json:"genesisHash"`
}

// SetGenesisPeers asks to connect the validators of a ceremony to each other.
type SetGenesisPeers struct {
	// Peers are id@host:port; absent means the bucket's peers.json. An empty list leaves the configuration as
	// it is: a validator that starts a chain alone has no others to connect to.
	Peers []string `json:"peers,omitzero"`
}

// Validate checks what can be checked without the node.
func (p *SetGenesisPeers) Validate() error {
	for i, peer := range p.Peers {
		if !peerPattern.MatchString(peer) {
			return api.InvalidField(fmt.Sprintf("peers[%d]", i), "%q is not of the form id@host:port", peer)
		}
	}
	return nil
}

// Peers is the result of set-genesis-peers.
type Peers struct {
	Peers []string `json:"peers"`
}
