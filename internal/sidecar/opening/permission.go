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
	ConfigHash       string `json:"configHash"`
	ConsensusAddress string `json:"consensusAddress,omitempty"`
	TemplateHash     string `json:"templateHash"`
	// GrantedAt is when the operator was last heard of, at the latest ValidFor ago.
	GrantedAt time.Time     `json:"grantedAt"`
	ValidFor  time.Duration `json:"validFor"`
}

func (p permission) validUntil() time.Time { return p.GrantedAt.Add(p.ValidFor) }

// Permit leaves the permission that came with an opening, or revokes an earlier one. A node
// that signs gets none: its key may have been given to another node meanwhile, and only the
// operator knows.
func (c *Conditions) Permit(p wire.MarkReady, o api.Opening) error {
	valid, _ := time.ParseDuration(p.Permission) // empty is none, the rest was checked
	if valid <= 0 || p.Expect == nil || o.ConsensusAddress != "" || c.TemplateHash == "" {
		return c.Revoke()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return supervision.Save(c.Home, permissionName, permission{
		ConfigHash: o.ConfigHash, ConsensusAddress: o.ConsensusAddress, TemplateHash: c.TemplateHash,
		GrantedAt: c.Clock.Now().UTC(), ValidFor: valid,
	})
}

// Renew lets the permission count from now on, for the configuration that is on disk by now: an
// operator that is there and changes nothing agrees to what it sees. A node that has been up for
// longer than the permission would otherwise not come back when it is needed most.
func (c *Conditions) Renew(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var p permission
	if err := supervision.Load(c.Home, permissionName, &p); err != nil || p == (permission{}) || p.TemplateHash != c.TemplateHash {
		return err
	}
	hash, err := c.ConfigHash()
	if err != nil || hash == "" || c.MayStart(ctx) != nil {
		return err // what is on disk is not agreed to
	}
	p.ConfigHash, p.GrantedAt = hash, c.Clock.Now().UTC()
	return supervision.Save(c.Home, permissionName, p)
}

// Revoke revokes the permission.
func (c *Conditions) Revoke() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	path := supervision.Path(c.Home, permissionName)
	there, err := durable.Exists(path)
	if err != nil || !there {
		return err
	}
	return durable.Remove(path)
}

// errNoPermission is the ordinary case: nobody left one.
var errNoPermission = errors.New("there is no standing permission on the volume")

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
	case now.After(p.validUntil()) || now.Add(clockSkew).Before(p.GrantedAt):
		return api.Opening{}, fmt.Errorf("the permission was valid from %s until %s", p.GrantedAt.Format(time.RFC3339), p.validUntil().Format(time.RFC3339))
	}
	return c.Check(ctx, wire.MarkReady{Expect: &wire.Expectation{ConfigHash: p.ConfigHash}})
}
