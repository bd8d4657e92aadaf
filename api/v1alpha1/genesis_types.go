package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GenesisCeremony starts a new chain with a fleet's validators.
type GenesisCeremony struct {
	// chainId of the new chain; the same as template.spec.chainId.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	ChainID string `json:"chainId"`
	// stakingAmount is what each validator delegates to itself.
	// +kubebuilder:validation:Pattern=`^[0-9]+[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$`
	// +kubebuilder:default="10000000usei"
	// +optional
	StakingAmount string `json:"stakingAmount,omitempty"`
	// accountBalance is what each validator's account starts with.
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^[0-9]+[a-zA-Z][a-zA-Z0-9/:._-]{2,127}(,[0-9]+[a-zA-Z][a-zA-Z0-9/:._-]{2,127})*$`
	// +kubebuilder:default="1000000000000000000000usei,1000000000000000000000uusdc,1000000000000000000000uatom"
	// +optional
	AccountBalance string `json:"accountBalance,omitempty"`
	// accounts are further accounts that exist from the first block on.
	// +kubebuilder:validation:MaxItems=1000
	// +listType=map
	// +listMapKey=address
	// +optional
	Accounts []GenesisAccount `json:"accounts,omitempty"`
	// overrides set single values of the genesis: a dotted path below
	// app_state with at least two parts, for example
	// gov.voting_params.voting_period, and the JSON value that goes there.
	// +kubebuilder:validation:MaxProperties=256
	// +optional
	Overrides map[string]apiextensionsv1.JSON `json:"overrides,omitempty"`
	// maxCeremonyDuration is how long the ceremony may take before it fails.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(\.[0-9]{1,9})?(ns|us|µs|ms|s|m|h)){1,6}$`
	// +kubebuilder:default="15m"
	// +optional
	MaxCeremonyDuration *metav1.Duration `json:"maxCeremonyDuration,omitempty"`
}

// GenesisAccount is an account that exists from the first block on.
type GenesisAccount struct {
	// address in bech32 with prefix sei.
	// +kubebuilder:validation:MaxLength=90
	// +kubebuilder:validation:Pattern=`^sei1[02-9ac-hj-np-z]{38,80}$`
	Address string `json:"address"`
	// balance is what the account starts with, for example 1000000usei,5uatom.
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^[0-9]+[a-zA-Z][a-zA-Z0-9/:._-]{2,127}(,[0-9]+[a-zA-Z][a-zA-Z0-9/:._-]{2,127})*$`
	Balance string `json:"balance"`
	// vesting locks part of the balance until endTime.
	// +optional
	Vesting *GenesisVesting `json:"vesting,omitempty"`
}

// GenesisVesting locks part of an account's balance for a time.
type GenesisVesting struct {
	// amount that is locked; at most the balance.
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^[0-9]+[a-zA-Z][a-zA-Z0-9/:._-]{2,127}(,[0-9]+[a-zA-Z][a-zA-Z0-9/:._-]{2,127})*$`
	Amount string `json:"amount"`
	// endTime is when everything is vested, in seconds since 1970.
	// +kubebuilder:validation:Minimum=1
	EndTime int64 `json:"endTime"`
	// delayed vests everything at endTime; otherwise it vests continuously
	// from genesis on.
	// +optional
	Delayed bool `json:"delayed,omitempty"`
}
