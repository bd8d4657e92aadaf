package look

import "github.com/sei-operator/sei-operator/internal/sidecar/api"

// divergence is the block that seid refuses because its state has come to something else: that of
// the process that runs, or of the one before until the node has got past the block. What ended
// before this sidecar began was perhaps another binary.
func (l *Look) divergence(doc api.Node) *api.Divergence {
	exit := doc.Seid.LastExit
	if doc.Seid.Divergence != nil || exit == nil || exit.At.Before(l.began) {
		return doc.Seid.Divergence
	}
	d := exit.Divergence
	switch {
	case d == nil || doc.Sync.Height == 0:
		return d
	case d.Height > 0 && doc.Sync.Height >= d.Height:
		return nil
	case d.Height == 0 && doc.Seid.Since != nil && l.Clock.Since(*doc.Seid.Since) >= refusalFades:
		return nil // it would have ended again
	}
	return d
}
