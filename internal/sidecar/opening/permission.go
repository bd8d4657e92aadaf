package opening

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/supervision"
)

// permissionName is the file of the permission among the sidecar's own.
const permissionName = "permission.json"

// clockSkew is by how much the clocks of two machines may differ.
const clockSkew = time.Minute

// permission is what an operator has agreed to in advance.
type permission struct {
	ConfigHash       string    `json:"configHash"`
	ConsensusAddress string    `json:"consensusAddress,omitempty"`
	TemplateHash     string    `json:"templateHash"`
	GrantedAt        time.Time `json:"grantedAt"`
	ValidUntil       time.Time `json:"validUntil"`
}

// Permit leaves the permission that came with an opening, or revokes an earlier one. A node
// that signs gets none: its key may have been given to another node meanwhile, and only the
// operator knows.
func (c *Conditions) Permit(p wire.MarkReady, o api.Opening) error {
	valid, _ := time.ParseDuration(p.Permission) // empty is none, the rest was checked
	if valid <= 0 || p.Expect == nil || o.ConsensusAddress != "" || c.TemplateHash == "" {
		return c.Revoke()
	}
	now := c.Clock.Now().UTC()
	return supervision.Save(c.Home, permissionName, permission{
		ConfigHash: o.ConfigHash, ConsensusAddress: o.ConsensusAddress, TemplateHash: c.TemplateHash,
		GrantedAt: now, ValidUntil: now.Add(valid),
	})
}

// Revoke revokes the permission.
func (c *Conditions) Revoke() error {
	path := supervision.Path(c.Home, permissionName)
	there, err := durable.Exists(path)
	if err != nil || !there {
		return err
	}
	return durable.Remove(path)
}

// errNoPermission is the ordinary case: nobody left one.
var errNoPermission = errors.New("there is no permission on the volume")

// Standing is what the gate may be opened for on the permission on the volume, or why it
// may not.
func (c *Conditions) Standing(ctx context.Context) (api.Opening, error) {
	var p permission
	if err := supervision.Load(c.Home, permissionName, &p); err != nil {
		return api.Opening{}, err
	}
	now := c.Clock.Now()
	switch {
	case p == (permission{}):
		return api.Opening{}, errNoPermission
	case c.TemplateHash == "" || p.TemplateHash != c.TemplateHash:
		return api.Opening{}, fmt.Errorf("the permission is for pod template %s, and this is %q", p.TemplateHash, c.TemplateHash)
	case p.ConsensusAddress != "":
		return api.Opening{}, errors.New("the permission is for a node that signs")
	case now.After(p.ValidUntil) || now.Add(clockSkew).Before(p.GrantedAt):
		return api.Opening{}, fmt.Errorf("the permission was valid from %s until %s", p.GrantedAt.Format(time.RFC3339), p.ValidUntil.Format(time.RFC3339))
	}
	return c.Check(ctx, wire.MarkReady{Expect: &wire.Expectation{ConfigHash: p.ConfigHash}})
}
