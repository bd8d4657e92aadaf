package snapshot

import (
	"context"
	"errors"
	"time"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
	"github.com/sei-operator/sei-operator/internal/sidecar/durable"
	"github.com/sei-operator/sei-operator/internal/sidecar/engine"
	"github.com/sei-operator/sei-operator/internal/sidecar/handlers/leftovers"
)

// settingFile keeps what publish-snapshots was given. It is no note on the data: a node that
// was reset continues publishing.
const settingFile = ".sei-sidecar-publish.json"

var errTurnedOff = errors.New("publishing was turned off")

// published is what is remembered of the newest snapshot in the bucket.
type published struct {
	Height int64     `json:"height"`
	Time   time.Time `json:"time"`
}

// set takes a new setting over. Publishing that is turned off ends at once.
func (t *Tasks) set(_ context.Context, _ engine.Task, p wire.PublishSnapshots) (any, error) {
	if err := t.writeNote(settingFile, p); err != nil {
		return nil, err
	}
	if p.Keep == 0 {
		t.uploading.abandon(errTurnedOff)
	}
	return nil, nil
}

// keep is how many snapshots stay in the bucket; 0: nothing is published.
func (t *Tasks) keep() (int32, error) {
	var s wire.PublishSnapshots
	err := t.readNote(settingFile, &s)
	return s.Keep, err
}

func (t *Tasks) lastPublished() (published, error) {
	var last published
	err := t.readNote(leftovers.LastPublished, &last)
	return last, err
}

func (t *Tasks) writeNote(name string, value any) error {
	return durable.WriteJSON(t.Node.Home.Path(name), value, 0o600)
}

// readNote leaves value as it is when there is no note.
func (t *Tasks) readNote(name string, value any) error {
	_, err := durable.ReadJSON(t.Node.Home.Path(name), value)
	return err
}

// Published is the part of the node's document about snapshots in the bucket.
func (p *Publisher) Published() (*api.Published, error) {
	keep, err := p.Tasks.keep()
	if err != nil {
		return nil, err
	}
	last, err := p.Tasks.lastPublished()
	if err != nil {
		return nil, err
	}
	view := &api.Published{Keep: keep, Height: last.Height}
	if last.Height > 0 {
		view.Time = &last.Time
	}
	if keep > 0 {
		view.Error = p.trouble()
	}
	return view, nil
}
