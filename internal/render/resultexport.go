package render

import (
	"fmt"
	"strings"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// ResultExport is the export of results that the node's sidecar should see to. Without an export
// problem and reason say why the one that is asked for cannot be; they are empty when none is.
func ResultExport(in Input) (export *wire.SetResultExport, reason, problem string) {
	replayer := in.Node.Spec.Replayer
	if replayer == nil || replayer.ResultExport == nil || replayer.ResultExport.ShadowResult == nil {
		return nil, "", ""
	}
	bucket := in.Platform.Buckets.ResultExport
	if bucket == "" {
		return nil, v1alpha1.ReasonNoResultBucket, "nothing is compared: the operator's configuration names no bucket for results; " +
			"set buckets.resultExport in it and restart the operator"
	}
	address := replayer.ResultExport.ShadowResult.CanonicalRPC
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	export = &wire.SetResultExport{Export: &wire.ResultExport{
		Bucket: bucket, CanonicalRPC: address,
		Prefix: fmt.Sprintf("%s/results/%s/%s/", in.Node.Spec.ChainID, in.Node.Namespace, in.Node.Name),
	}}
	export.Hash, _ = hashOf(export.Export) // a struct of strings always encodes
	if err := export.Validate(); err != nil {
		return nil, v1alpha1.ReasonCanonicalRPCInvalid, fmt.Sprintf("nothing is compared: spec.replayer.resultExport.shadowResult: %v", err)
	}
	return export, "", ""
}
