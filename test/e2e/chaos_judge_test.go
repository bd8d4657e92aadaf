package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sei-operator/sei-operator/test/chaos"
)

// restartDrain is how long before a restart a full node leaves its Services, with a margin.
const restartDrain = 25 * time.Second

// calmQuiet is how long the operator may write nothing at the end.
const calmQuiet = 30 * time.Second

// judge holds what was seen against what must hold, writes the report, and fails the test by it.
func (r *chaosRun) judge(load poller, transactions *sender, audited int64) {
	r.t.Helper()
	blocks := r.blocks()
	runs, ready := r.watch.seen()
	r.report.Nodes, r.report.Runs = r.nodes, runs
	for _, e := range r.events {
		r.report.Events = append(r.report.Events, *e)
	}
	r.report.Gaps = chaos.Gaps(since(blocks, r.report.Began), runs, r.validatorNames())
	r.judgeChain(blocks, runs)
	r.judgeBudget(audited, blocks, runs, ready)
	r.judgeEnd()
	r.judgeLoad(load)
	r.judgeTransactions(transactions)
	r.publish()
}

func since(blocks []chaos.Block, from time.Time) []chaos.Block {
	return slices.DeleteFunc(slices.Clone(blocks), func(b chaos.Block) bool { return b.At.Before(from) })
}

func (r *chaosRun) validatorNames() []string {
	return slices.DeleteFunc(slices.Clone(r.nodes), func(n string) bool { return !strings.HasPrefix(n, "v-") })
}

// verdict notes whether something held, and fails the test if not.
func (r *chaosRun) verdict(name, seen string, violations []string) {
	r.t.Helper()
	r.report.Verdicts = append(r.report.Verdicts, chaos.Verdict{Name: name, Seen: seen, Violations: violations})
	for _, v := range violations {
		r.t.Errorf("%s: %s", name, v)
	}
}

func (r *chaosRun) factf(name, format string, args ...any) {
	r.t.Helper()
	value := fmt.Sprintf(format, args...)
	r.t.Logf("%s: %s", name, value)
	r.report.Facts = append(r.report.Facts, chaos.Fact{Name: name, Value: value})
}

// judgeChain is about blocks and signatures.
func (r *chaosRun) judgeChain(blocks []chaos.Block, runs []chaos.Run) {
	r.t.Helper()
	var long, evidence []string
	for _, g := range chaos.Over(r.report.Gaps, recoveryBound) {
		long = append(long, fmt.Sprintf("%.1f s before block %d", g.Able.Seconds(), g.Height))
	}
	for _, b := range blocks {
		if b.Evidence > 0 {
			evidence = append(evidence, fmt.Sprintf("block %d has %d pieces of evidence", b.Height, b.Evidence))
		}
	}
	if len(r.report.Gaps) == 0 {
		long = append(long, "no blocks were read, so that nothing is known")
	}
	r.verdict(fmt.Sprintf("the chain stands for at most %s while more than two thirds of the voting power runs", recoveryBound),
		describeGaps(r.report.Gaps), long)
	r.verdict("no evidence of a double signature is in a block", fmt.Sprintf("all %d blocks", len(blocks)), evidence)
	r.watch.mu.Lock()
	reads, twice := r.watch.reads, slices.Clone(r.watch.signedTwice)
	r.watch.mu.Unlock()
	r.verdict("height, round and step of no validator's signing state go back, and none is signed again",
		fmt.Sprintf("%d looks at priv_validator_state.json", reads), twice)
	r.verdict("no node has two processes of seid at a time", fmt.Sprintf("%d processes in all", len(runs)), chaos.Together(runs, r.nodes))
	r.verdict("all nodes have the same block at the same height", "the last block that all have", r.forks())
}

func describeGaps(gaps []chaos.Gap) string {
	var longest, able time.Duration
	for _, g := range gaps {
		longest, able = max(longest, g.Took()), max(able, g.Able)
	}
	return fmt.Sprintf("%d gaps; the longest took %.1f s, and the longest part of one in which enough validators ran %.1f s",
		len(gaps), longest.Seconds(), able.Seconds())
}

// forks compares a block of all nodes.
func (r *chaosRun) forks() []string {
	r.t.Helper()
	height := int64(0)
	for _, node := range r.nodes {
		if at := r.height(node); height == 0 || at < height {
			height = at
		}
	}
	hashes := map[string][]string{}
	for _, node := range r.nodes {
		block, err := r.rpc(node).Block(r.t.Context(), height)
		if err != nil {
			return []string{fmt.Sprintf("asking %s for block %d: %v", node, height, err)}
		}
		hashes[block.Hash] = append(hashes[block.Hash], node)
	}
	if len(hashes) != 1 {
		return []string{fmt.Sprintf("block %d: %v", height, hashes)}
	}
	return nil
}

// judgeEnd is about how everything stands when nothing happens any more.
func (r *chaosRun) judgeEnd() {
	r.t.Helper()
	wrong, err := r.wrong(r.t.Context())
	if err != nil {
		wrong = append(wrong, err.Error())
	}
	if r.report.Settled.IsZero() {
		wrong = append(wrong, fmt.Sprintf("not all was well within %s", settleTimeout))
	} else {
		r.factf("all well again", "%.0f s after the last disturbance", r.report.Settled.Sub(r.report.Calm).Seconds())
	}
	r.verdict("all nodes end in sync, with the image and the configuration of their fleet, and no condition reports a failure", "SeiNodes and fleets", wrong)
	from := r.auditSize()
	r.waitUntil(time.Now().Add(calmQuiet)) // that nothing happens is the point
	r.verdict("the operator is silent in the end", fmt.Sprintf("the audit log of %s", calmQuiet), r.operatorWrites(from))
}

// publish leaves the report, its picture and the logs of all containers in .cache/chaos.
func (r *chaosRun) publish() {
	r.t.Helper()
	missed := 0
	for _, e := range r.report.Events {
		if e.Missed != "" {
			missed++
		}
	}
	r.factf("events", "%d, of which %d could not be done", len(r.report.Events), missed)
	dir := filepath.Join(r.root, ".cache", "chaos")
	r.evidence.collectFiles()
	if err := os.RemoveAll(dir); err != nil {
		r.t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "logs"), os.DirFS(filepath.Join(r.evidence.dir, "logs"))); err != nil {
		r.t.Errorf("keeping the logs: %v", err)
	}
	files := map[string][]byte{"report.md": []byte(r.report.Markdown("timeline.svg")), "timeline.svg": r.report.Picture(), "run.json": encode(r.t, r.report)}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	r.t.Logf("the report is %s", filepath.Join(dir, "report.md"))
}
