package node_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/internal/node"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
)

// figures are the fields of the document that no decision and no report looks at.
var figures = []string{
	"Sync.Height", "Sync.Lag", "Sync.Peers", "Sync.BlockTime", "Sync.Progress", "Snapshots", "Disk", "ResultExport.Height", "Upgrades.EstimatedTime",
}

func isFigure(path string) bool {
	for _, figure := range figures {
		if path == figure || strings.HasPrefix(path, figure+".") {
			return true
		}
	}
	return false
}

// fill sets every field of a value to something, and calls visit with the path and the value of
// each that has no fields of its own.
func fill(v reflect.Value, path string, visit func(path string, leaf reflect.Value)) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(passAt))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), path, visit)
		return
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), path, visit)
		return
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."), visit)
		}
		return
	case v.Kind() == reflect.String:
		v.SetString("a")
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanUint():
		v.SetUint(1)
	default:
		v.SetInt(1)
	}
	visit(path, v)
}

// fullDocument has every field set, and its leaves by path.
func fullDocument() (*api.Node, map[string]reflect.Value) {
	document, leaves := &api.Node{}, map[string]reflect.Value{}
	fill(reflect.ValueOf(document).Elem(), "", func(path string, leaf reflect.Value) { leaves[path] = leaf })
	return document, leaves
}

func TestSameFacts_EveryFieldButFigures_TellsDocumentsApart(t *testing.T) {
	_, leaves := fullDocument()
	for path := range leaves {
		a, _ := fullDocument()
		b, changed := fullDocument()
		changed[path].SetZero()
		if got := node.SameFacts(a, b); got != isFigure(path) {
			t.Errorf("%s differs, and the facts are the same: %t, want %t", path, got, isFigure(path))
		}
	}
}

func TestSameFacts_DocumentThatWasReadTwice_IsTheSame(t *testing.T) {
	document, _ := fullDocument()
	sent, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	var first, second api.Node
	for _, into := range []*api.Node{&first, &second} {
		if err := json.Unmarshal(sent, into); err != nil {
			t.Fatal(err)
		}
	}
	second.Sync.Height++
	if !node.SameFacts(&first, &second) {
		t.Error("the same document differs")
	}
}

// What SameFacts leaves out must not show: a node at rest gets no pass when it changes.
func TestReport_Figures_AreNotLookedAt(t *testing.T) {
	for _, s := range states {
		with, without := settledPass(), settledPass()
		s.change(with)
		s.change(without)
		if with.Facts.Document == nil {
			continue
		}
		full, _ := fullDocument()
		d := with.Facts.Document
		d.Sync.Height, d.Sync.Lag, d.Sync.Peers = 1000, 1000, 1000
		d.Sync.BlockTime, d.Sync.Progress, d.Snapshots, d.Disk = full.Sync.BlockTime, full.Sync.Progress, full.Snapshots, full.Disk
		if got, want := node.Report(with), node.Report(without); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: reports %+v, without figures %+v", s.name, got, want)
		}
	}
}
