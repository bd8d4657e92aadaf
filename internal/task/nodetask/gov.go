package nodetask

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/operation"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/task/sidecartask"
	"github.com/sei-operator/sei-operator/internal/text"
)

// transacting has the node's sidecar send a transaction. A task that somebody has submitted there
// with other parameters is submitted again as it was meant: the sidecar takes up its own
// transaction, and refuses parameters that would make a second one.
func transacting(taskType api.TaskType, params paramsFunc) runFunc {
	return sidecarStep{taskType: taskType, params: params, done: transactionDone, pinned: true}.run
}

// sameParams reports whether the sidecar was given these parameters.
func sameParams(given json.RawMessage, params sidecartask.Params) bool {
	own, err := sidecartask.Encode(params)
	if err != nil {
		return true // it cannot be determined
	}
	var a, b any
	return json.Unmarshal(given, &a) == nil && json.Unmarshal(own, &b) == nil && reflect.DeepEqual(a, b)
}

// transaction is what all transactions of a task say. The spec cannot change, and the key's name is
// pinned by the node's spec, where it cannot change either: a task that is submitted again says the
// same.
func transaction(env *Env, tx v1alpha1.GovTx) wire.Transaction {
	return wire.Transaction{
		ChainID: tx.ChainID, KeyName: cmp.Or(tx.KeyName, env.Node.Spec.Validator.SigningUID()),
		Fees: tx.Fees, Gas: uint64(max(tx.Gas, 0)), Memo: tx.Memo,
	}
}

func voteParams(env *Env, _ *v1alpha1.PlannedTask) (any, error) {
	p := env.Task.Spec.GovVote
	return wire.GovVote{Transaction: transaction(env, p.GovTx), ProposalID: uint64(max(p.ProposalID, 0)), Option: p.Option}, nil
}

func softwareUpgradeParams(env *Env, _ *v1alpha1.PlannedTask) (any, error) {
	p := env.Task.Spec.GovSoftwareUpgrade
	return wire.GovSoftwareUpgrade{
		Transaction: transaction(env, p.GovTx),
		Proposal:    wire.Proposal{Title: p.Title, Description: p.Description, InitialDeposit: p.InitialDeposit},
		UpgradeName: p.UpgradeName, UpgradeHeight: p.UpgradeHeight, UpgradeInfo: p.UpgradeInfo,
	}, nil
}

func paramChangeParams(env *Env, _ *v1alpha1.PlannedTask) (any, error) {
	p := env.Task.Spec.GovParamChange
	changes := make([]wire.ParamChange, 0, len(p.Changes))
	for _, c := range p.Changes {
		changes = append(changes, wire.ParamChange{Subspace: c.Subspace, Key: c.Key, Value: c.Value.Raw})
	}
	return wire.GovParamChange{
		Transaction: transaction(env, p.GovTx),
		Proposal:    wire.Proposal{Title: p.Title, Description: p.Description, InitialDeposit: p.InitialDeposit},
		Changes:     changes,
	}, nil
}

// maxTxHash is longer than the hash of any transaction. What a sidecar says must not fill up a status.
const maxTxHash = 128

// transactionDone notes where the transaction is, also of a task that failed.
func transactionDone(env *Env, result api.TaskResult) (string, error) {
	var sent wire.GovTxResult
	if err := json.Unmarshal(result.Result, &sent); err != nil {
		return "", err
	}
	sent.TxHash = text.Shorten(sent.TxHash, maxTxHash)
	tx := v1alpha1.TxOutputs{TxHash: sent.TxHash, Height: sent.Height}
	proposal := &v1alpha1.ProposalOutputs{TxOutputs: tx, ProposalID: int64(min(sent.ProposalID, 1<<62))}
	switch {
	case sent.TxHash == "":
	case env.Task.Spec.GovVote != nil:
		env.Outputs = &v1alpha1.TaskOutputs{GovVote: &tx}
	case env.Task.Spec.GovSoftwareUpgrade != nil:
		env.Outputs = &v1alpha1.TaskOutputs{GovSoftwareUpgrade: proposal}
	case env.Task.Spec.GovParamChange != nil:
		env.Outputs = &v1alpha1.TaskOutputs{GovParamChange: proposal}
	}
	words := fmt.Sprintf("transaction %s is in block %d", sent.TxHash, sent.Height)
	if sent.ProposalID > 0 && operation.Proposes(&env.Task.Spec) {
		words += fmt.Sprintf(" and made proposal %d", sent.ProposalID)
	}
	return words, nil
}

// cameFirst is how far the transaction got that the sidecar made of other parameters under the
// task's id, and because of which it refuses the task as it was meant; empty when there is none.
func cameFirst(failed api.TaskResult) string {
	var sent wire.GovTxResult
	if failed.ErrorDetail == nil || failed.ErrorDetail.Code != api.CodeConflict || json.Unmarshal(failed.Result, &sent) != nil {
		return ""
	}
	return sent.InclusionStatus
}

// isUndecided reports whether a transaction with other parameters is in no block and may still come
// into one. If it does not, the task as it was meant is next.
func isUndecided(failed api.TaskResult) bool { return cameFirst(failed) == wire.InclusionPending }

// isUnverifiable reports whether it is unknown if a transaction was included.
func isUnverifiable(failed api.TaskResult) bool {
	var sent wire.GovTxResult
	return json.Unmarshal(failed.Result, &sent) == nil && sent.InclusionStatus == wire.InclusionUnverifiable
}
