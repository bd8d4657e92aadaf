// Package upgrade reads what a node knows of upgrades of its chain: the plan in the chain's
// state, and the file that seid leaves when it stops for one. It asks nobody and decides
// nothing; callers bring the bytes.
package upgrade

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// CurrentPlanPath is the application query that answers with the plan. It needs no
// parameters and no REST server.
const CurrentPlanPath = "/cosmos.upgrade.v1beta1.Query/CurrentPlan"

// InfoFile is the name of the file in the data directory that seid writes when it stops
// because it lacks the handler of an upgrade.
const InfoFile = "upgrade-info.json"

// Plan is an upgrade of the chain.
type Plan struct {
	Name   string
	Height int64
	// Info is free text. Release teams put JSON there.
	Info string
}

// Minor reports whether the new binary may run before the height, as the upgrade module
// decides it: by upgradeType in a JSON info.
func (p Plan) Minor() bool {
	var details struct {
		UpgradeType string `json:"upgradeType"`
	}
	return json.Unmarshal([]byte(p.Info), &details) == nil && strings.EqualFold(details.UpgradeType, "minor")
}

// The numbers of the fields in cosmos/upgrade/v1beta1.
const (
	responsePlan protowire.Number = 1
	planName     protowire.Number = 1
	planHeight   protowire.Number = 3
	planInfo     protowire.Number = 4
)

// DecodeCurrentPlan decodes the answer to CurrentPlanPath; nil means that nothing is planned.
func DecodeCurrentPlan(answer []byte) (*Plan, error) {
	var plan *Plan
	err := eachField(answer, func(number protowire.Number, value field) error {
		if number != responsePlan {
			return nil
		}
		plan = &Plan{}
		return plan.decode(value.bytes)
	})
	if err != nil {
		return nil, fmt.Errorf("decoding the upgrade plan: %w", err)
	}
	return plan, nil
}

func (p *Plan) decode(message []byte) error {
	return eachField(message, func(number protowire.Number, value field) error {
		switch number {
		case planName:
			p.Name = string(value.bytes)
		case planHeight:
			p.Height = int64(value.varint)
		case planInfo:
			p.Info = string(value.bytes)
		default: // a field we do not need
		}
		return nil
	})
}

// field is the value of one field, by its wire type.
type field struct {
	varint uint64
	bytes  []byte
}

func eachField(message []byte, visit func(protowire.Number, field) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var value field
		switch kind {
		case protowire.VarintType:
			value.varint, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			value.bytes, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if err := visit(number, value); err != nil {
			return err
		}
	}
	return nil
}

// Stop is the note of a seid that stopped for an upgrade.
type Stop struct {
	Plan
	// Written is when seid wrote the note, right before it ended.
	Written time.Time
}

// ReadStop reads the note in a data directory; nil means that there is none. The note stays
// when the upgrade is done, so it reports the present only beside the height or the time
// of the last exit.
func ReadStop(data string) (*Stop, error) {
	path := filepath.Join(data, InfoFile)
	content, err := os.ReadFile(path) //nolint:gosec // in the home we were given
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", InfoFile, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", InfoFile, err)
	}
	var note struct {
		Name   string `json:"name"`
		Height int64  `json:"height"`
		Info   string `json:"info"`
	}
	if len(content) == 0 { // seid empties the file before it writes
		return nil, nil
	}
	if err := json.Unmarshal(content, &note); err != nil {
		return nil, fmt.Errorf("reading %s: %w", InfoFile, err)
	}
	if note.Name == "" {
		return nil, nil
	}
	return &Stop{Plan: Plan{Name: note.Name, Height: note.Height, Info: note.Info}, Written: info.ModTime()}, nil
}
