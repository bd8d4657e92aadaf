package ceremony

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/fleet"
	"github.com/sei-operator/sei-operator/internal/plan"
	sidecar "github.com/sei-operator/sei-operator/internal/sidecar/client"
)

// Member is one validator of the ceremony.
type Member struct {
	Name string
	// Node is the validator's SeiNode; nil while there is none.
	Node *v1alpha1.SeiNode
	// Sidecar talks to its pod; nil while that does not run.
	Sidecar sidecar.Sidecar
}

// Env is what the tasks of one ceremony work with during one reconcile.
type Env struct {
	Client client.Client
	// Live reads from the API server, past the cache.
	Live  client.Reader
	Clock clock.PassiveClock
	// Fleet is the owner. Tasks only read it.
	Fleet *v1alpha1.SeiNodeDeployment
	// Plan is the plan under way; later tasks look up what earlier ones left at
	// the sidecars.
	Plan *v1alpha1.TaskPlan
	// Members are the validators by ordinal. The first one assembles.
	Members []Member
	// Others are further nodes of the chain, which have its genesis too.
	Others []Member
	// Bucket is the genesis bucket; empty means none.
	Bucket string
	// Facts collects what the report needs to know.
	Facts *Facts

	gentxs []json.RawMessage
}

// Facts is what a ceremony came to.
type Facts struct {
	// Stored is the ConfigMap with the genesis.
	Stored *corev1.ConfigMap
	// Warnings are what the assembler found odd.
	Warnings []string
}

// Reasons of waits and failures.
const (
	ReasonValidatorNotReady = "ValidatorNotReady"
	ReasonValidatorFailed   = "ValidatorFailed"
	ReasonSidecarRefuses    = "SidecarRefuses"
	ReasonHashDiffers       = "HashDiffers"
	ReasonTooLarge          = "GenesisTooLarge"
	ReasonGenesisConflict   = "GenesisConflict"
	ReasonGenesisLost       = "GenesisLost"
	ReasonSidecarTooOld     = "SidecarTooOld"
)

const (
	soon    = 250 * time.Millisecond
	shortly = 2 * time.Second
)

// Registry is every task of a fleet's plans. Their deadline is the ceremony's.
func Registry() plan.Registry[*Env] {
	return plan.Registry[*Env]{
		fleet.TaskCollectGentxs:   {Run: collectGentxs, MaxRetries: 3},
		fleet.TaskAssembleGenesis: {Run: assembleGenesis, MaxRetries: 3},
		fleet.TaskPublishGenesis:  {Run: publishGenesis, MaxRetries: 10},
		fleet.TaskStoreGenesis:    {Run: storeGenesis, MaxRetries: 3},
		fleet.TaskRestoreGenesis:  {Run: restoreGenesis, MaxRetries: 3},
	}
}
