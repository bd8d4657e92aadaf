package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// MaxMemo is the chain's bound on a transaction's memo.
const MaxMemo = 256

// memoTag marks our transactions; a user's memo must not imitate it.
const memoTag = "taskID="

// Transaction is what every transaction needs.
type Transaction struct {
	ChainID string `json:"chainId"`
	KeyName string `json:"keyName"`
	Fees    string `json:"fees"`
	Gas     uint64 `json:"gas"`
	Memo    string `json:"memo,omitempty"`
}

// TaggedMemo is the memo on chain: the user's words and the task's id.
func (p *Transaction) TaggedMemo(taskID string) string {
	return strings.TrimSpace(p.Memo + " " + memoTag + taskID)
}

func (p *Transaction) validate() error {
	if err := first(chainID(p.ChainID), matches("keyName", p.KeyName, namePattern, "a key name"), usei("fees", p.Fees)); err != nil {
		return err
	}
	if p.Gas == 0 {
		return api.InvalidField("gas", "has to be positive")
	}
	if strings.Contains(p.Memo, memoTag) {
		return api.InvalidField("memo", "must not contain %q", memoTag)
	}
	const idLength = 36
	return optionalText("memo", p.Memo, MaxMemo-len(memoTag)-idLength-1)
}

// The ways to vote.
var voteOptions = []string{"yes", "no", "abstain", "no_with_veto", "no-with-veto"}

// GovVote asks to vote on a proposal.
type GovVote struct {
	Transaction
	ProposalID uint64 `json:"proposalId"`
	Option     string `json:"option"`
}

// Validate checks what can be checked without the node.
func (p *GovVote) Validate() error {
	if p.ProposalID == 0 {
		return api.InvalidField("proposalId", "has to be positive")
	}
	if !slices.Contains(voteOptions, p.Option) {
		return api.InvalidField("option", "%q is not one of %v", p.Option, voteOptions)
	}
	return p.validate()
}

// Proposal is what every proposal needs.
type Proposal struct {
	Title          string `json:"title"`
	Description    string `json:"description"`
	InitialDeposit string `json:"initialDeposit"`
}

func (p *Proposal) validate() error {
	if err := first(text("title", p.Title, 140), required("description", p.Description)); err != nil {
		return err
	}
	if len(p.Description) > 10000 {
		return api.InvalidField("description", "is longer than 10000 bytes")
	}
	if strings.Contains(p.Description, "\x00") {
		return api.InvalidField("description", "has a NUL character in it")
	}
	return usei("initialDeposit", p.InitialDeposit)
}

// GovSoftwareUpgrade asks to propose an upgrade of the chain.
type GovSoftwareUpgrade struct {
	Transaction
	Proposal
	UpgradeName   string `json:"upgradeName"`
	UpgradeHeight int64  `json:"upgradeHeight"`
	UpgradeInfo   string `json:"upgradeInfo,omitempty"`
}

// Validate checks what can be checked without the node.
func (p *GovSoftwareUpgrade) Validate() error {
	if p.UpgradeHeight <= 0 {
		return api.InvalidField("upgradeHeight", "has to be positive")
	}
	if strings.HasPrefix(p.UpgradeName, "-") {
		return api.InvalidField("upgradeName", "must not start with a dash")
	}
	return first(text("upgradeName", p.UpgradeName, 140), p.Transaction.validate(), p.Proposal.validate(),
		optionalText("upgradeInfo", p.UpgradeInfo, 10000))
}

// ParamChange is one parameter and its new value.
type ParamChange struct {
	Subspace string          `json:"subspace"`
	Key      string          `json:"key"`
	Value    json.RawMessage `json:"value"`
}

// GovParamChange asks to propose new values of chain parameters.
type GovParamChange struct {
	Transaction
	Proposal
	Changes []ParamChange `json:"changes"`
}

// Validate checks what can be checked without the node.
func (p *GovParamChange) Validate() error {
	if len(p.Changes) == 0 {
		return api.InvalidField("changes", "at least one is required")
	}
	for i, c := range p.Changes {
		at := fmt.Sprintf("changes[%d].", i)
		if err := first(required(at+"subspace", c.Subspace), required(at+"key", c.Key)); err != nil {
			return err
		}
		if len(c.Value) == 0 {
			return api.InvalidField(at+"value", "is required")
		}
	}
	return first(p.Transaction.validate(), p.Proposal.validate())
}

// How far a transaction came.
const (
	InclusionCommitted    = "committed_ok"
	InclusionFailed       = "committed_failed"
	InclusionPending      = "pending"
	InclusionUnverifiable = "unverifiable"
)

// GovTxResult is the result of every governance task, failed ones included.
type GovTxResult struct {
	TxHash          string `json:"txHash"`
	Height          int64  `json:"height,omitempty"`
	ProposalID      uint64 `json:"proposalId,omitempty"`
	Code            uint32 `json:"code,omitempty"`
	Codespace       string `json:"codespace,omitempty"`
	RawLog          string `json:"rawLog,omitempty"`
	InclusionStatus string `json:"inclusionStatus"`
}
