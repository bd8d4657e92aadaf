package wire

import (
	"net/url"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// ResultExport asks to export block results to a bucket, or to compare them with
// those of another node.
type ResultExport struct {
	Bucket      string `json:"bucket"`
	Region      string `json:"region,omitempty"`
	Prefix      string `json:"prefix,omitempty"`
	RPCEndpoint string `json:"rpcEndpoint,omitempty"`
	// CanonicalRPC is the node to compare with; empty means plain export.
	CanonicalRPC string `json:"canonicalRpc,omitempty"`
	// MigrationMode compares block results even when the headers agree.
	MigrationMode        bool   `json:"migrationMode,omitempty"`
	ContinueOnDivergence bool   `json:"continueOnDivergence,omitempty"`
	ShadowEVMRPC         string `json:"shadowEvmRpc,omitempty"`
	CanonicalEVMRPC      string `json:"canonicalEvmRpc,omitempty"`
	TraceRPC             string `json:"traceRpc,omitempty"`
}

// Validate checks what can be checked without the node.
func (p *ResultExport) Validate() error {
	if err := required("bucket", p.Bucket); err != nil {
		return err
	}
	for field, value := range map[string]string{
		"rpcEndpoint": p.RPCEndpoint, "canonicalRpc": p.CanonicalRPC, "shadowEvmRpc": p.ShadowEVMRPC,
		"canonicalEvmRpc": p.CanonicalEVMRPC, "traceRpc": p.TraceRPC,
	} {
		if err := httpURL(field, value); err != nil {
			return err
		}
	}
	if (p.ShadowEVMRPC == "") != (p.CanonicalEVMRPC == "") {
		return api.InvalidField("canonicalEvmRpc", "has to be given together with shadowEvmRpc")
	}
	return nil
}

// SetResultExport says which export the sidecar should see to by itself from now on.
type SetResultExport struct {
	// Export is what to compare with what, and where the results go; nil ends the standing export.
	Export *ResultExport `json:"export,omitempty"`
	// Hash is the caller's name for Export. The node document shows it.
	Hash string `json:"hash,omitempty"`
	// Again: an export that has ended with a divergence begins again at that block.
	Again bool `json:"again,omitempty"`
}

// Validate checks what can be checked without the node.
func (p *SetResultExport) Validate() error {
	if p.Export == nil {
		return nil
	}
	if err := required("hash", p.Hash); err != nil {
		return err
	}
	if err := required("export.canonicalRpc", p.Export.CanonicalRPC); err != nil {
		return err
	}
	if p.Export.ContinueOnDivergence {
		return api.InvalidField("export.continueOnDivergence", "a standing export ends at the first difference")
	}
	return p.Export.Validate()
}

func httpURL(field, value string) error {
	if value == "" {
		return nil
	}
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return api.InvalidField(field, "%q is not an http or https address", value)
	}
	return nil
}

// Exported is the result of result-export.
type Exported struct {
	// Pages is the number of objects written.
	Pages int `json:"pages"`
	// LastHeight is the last exported or compared height.
	LastHeight int64 `json:"lastHeight"`
	// DivergedAt is the first height that differs, 0 when none does.
	DivergedAt int64 `json:"divergedAt,omitempty"`
}
