package sidecar_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// withOtherState is a genesis of the same chain and validators with another state: one parameter of
// the governance differs.
func withOtherState(t *testing.T, genesis wire.AssembledGenesis) wire.AssembledGenesis {
	t.Helper()
	packed, err := base64.StdEncoding.DecodeString(genesis.Genesis)
	if err != nil {
		t.Fatal(err)
	}
	unzip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	file, err := io.ReadAll(unzip)
	if err != nil {
		t.Fatal(err)
	}
	period := regexp.MustCompile(`("voting_period": *)"600s"`)
	if n := len(period.FindAll(file, -1)); n != 1 {
		t.Fatalf("the voting period is in %d places", n)
	}
	file = period.ReplaceAll(file, []byte(`$1"601s"`))
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	if _, err := zip.Write(file); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256(file)
	return wire.AssembledGenesis{Genesis: base64.StdEncoding.EncodeToString(zipped.Bytes()), GenesisHash: hex.EncodeToString(hash[:])}
}

// The state of a node differs from that of its chain. seid does not take the block that shows it, so
// that the node never has one to compare; that it refuses the block is the end of the comparison.
func TestStandingExport_StateThatDiffers_EndsWithTheBlockThatSeidRefuses(t *testing.T) {
	bucket := t.TempDir()
	v := newNode(t, "refuse-1", "v", "")
	genesis := ceremony([]*node{v}, nil)
	v.start()
	v.awaitHeight(3)
	n := newNode(t, "refuse-1", "n", "")
	n.identity()
	n.join(withOtherState(t, genesis))
	n.configure("full", nil)
	n.connect([]*node{v})
	do[any](n, api.SetResultExport, wire.SetResultExport{Hash: "a", Export: &wire.ResultExport{
		Bucket: "file://" + bucket, Prefix: "refuse-1/", CanonicalRPC: "http://" + v.witness(),
	}})
	n.start()

	doc, _ := n.awaitDocument("the divergence", func(d api.Node) bool {
		return d.ResultExport != nil && d.ResultExport.Divergence != nil && d.Seid.Divergence != nil
	})
	got := doc.ResultExport.Divergence
	t.Logf("%+v", got)
	want := &api.Divergence{
		Height: got.Height, Field: "app_hash", Report: fmt.Sprintf("refuse-1/divergence-%d.report.json.gz", got.Height), Message: got.Message,
	}
	if diff := cmp.Diff(want, got); diff != "" || got.Height < 1 || got.Height > 2 || !strings.Contains(got.Message, "wrong Block.Header.AppHash") {
		t.Errorf("divergence %+v (-want +got):\n%s", got, diff)
	}
	if said := doc.Seid.Divergence; said.Height != got.Height || said.Field != "app_hash" {
		t.Errorf("seid says %+v", said)
	}
	if _, err := os.Stat(filepath.Join(bucket, got.Report)); err != nil {
		t.Error(err)
	}
}
