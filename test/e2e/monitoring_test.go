package e2e

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/seid"
	"github.com/sei-operator/sei-operator/test/monitoring/chart"
	"github.com/sei-operator/sei-operator/test/monitoring/dashboards"
	"github.com/sei-operator/sei-operator/test/monitoring/prometheus"
)

// A real Prometheus scrapes the operator as the shipped account, and the nodes, with the shipped rules. What happens to nodes
// shows in its answers, and afterwards every panel of the dashboards has something to show.
func TestMonitoring_LiveOperator_TellsWhatHappens(t *testing.T) {
	s := join(t, "monitoring")
	bin, err := s.script(t.Context(), "prometheus.sh")
	if err != nil {
		t.Fatalf("getting prometheus: %v", err)
	}
	m := s.startMonitor(bin)
	m.refusesStrangers()

	s.create(s.fullNode("solo"))
	s.create(s.rpcFleet("rpc", 2))
	s.awaitInSync("solo")
	s.awaitFleet("rpc", v1alpha1.ConditionNodesReady, metav1.ConditionTrue)

	// The fleet rests while another node loses its pod.
	m.noticesALostGate("solo")
	m.noticesARollout("rpc")
	m.scrapeNodes(3)
	m.noticesANodeWithoutPeers("lonely")
	m.noticesAMissingSnapshot("archivist")
	m.noticesADivergedNode("astray")
	m.checkPanels(map[string]string{"fleets.json": "rpc", "node.json": "solo"})
}

// monitor is a Prometheus that scrapes the operator.
type monitor struct {
	*scenario
	*prometheus.Server
	began time.Time
	// target is where the metrics are, and token that of the account that may read them.
	target, token string
	// folder is that of the configuration.
	folder string
	rules  []alertRule
}

// alertRule is an alert; cause tells those of one name apart.
type alertRule struct {
	Alert, Expr, cause string
}

// scrapeEverySecond is the job of config/monitoring/service-monitor.yaml and those of pod-monitor.yaml, but for the
// interval and for discovery, which Debian's Prometheus does without: the Service leads to the operator wherever it runs,
// and the pods of nodes are written to files.
const scrapeEverySecond = `
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules.yaml]
scrape_configs:
- job_name: sei-operator
  honor_labels: true
  scheme: https
  tls_config: {insecure_skip_verify: true}
  authorization: {credentials_file: token}
  static_configs: [{targets: [%q]}]
- job_name: sei-sidecar
  metrics_path: /v0/metrics
  file_sd_configs: [{files: [sidecars.json], refresh_interval: 1s}]
- job_name: seid
  file_sd_configs: [{files: [seids.json], refresh_interval: 1s}]
`

// startMonitor starts it with the account, the rules and the way of scraping that are shipped.
func (s *scenario) startMonitor(bin string) *monitor {
	s.t.Helper()
	service := &corev1.Service{}
	if err := s.Get(s.t.Context(), client.ObjectKey{Namespace: operatorNamespace, Name: "sei-operator-metrics"}, service); err != nil {
		s.t.Fatal(err)
	}
	folder := s.t.TempDir()
	m := &monitor{scenario: s, began: time.Now(), token: s.scraperToken(), target: service.Spec.ClusterIP + ":8443", folder: folder}
	rules := m.shippedRules()
	for name, content := range map[string]string{
		"prometheus.yaml": fmt.Sprintf(scrapeEverySecond, m.target),
		"token":           m.token,
		"rules.yaml":      rules,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	server, err := prometheus.Start(s.t.Context(), bin, folder)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			s.t.Error(err)
		}
	})
	m.Server = server
	m.awaitValue("the operator to be scraped", `max(up{job="sei-operator"})`, func(v float64) bool { return v == 1 })
	return m
}

// scraperToken applies the account of config/monitoring and reads its token.
func (s *scenario) scraperToken() string {
	s.t.Helper()
	manifest, err := os.ReadFile(filepath.Join(s.root, "config", "monitoring", "scraper.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	// As kustomize does.
	manifest = []byte(strings.ReplaceAll(string(manifest), "namespace: system", "namespace: "+operatorNamespace))
	if _, err := s.kubectl(s.t.Context(), manifest, "apply", "--server-side", "-f", "-"); err != nil {
		s.t.Fatal(err)
	}
	var token string
	await(s.t, inSyncTimeout, "the scraper's token", func(ctx context.Context) (bool, string, error) {
		secret := &corev1.Secret{}
		err := s.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: "sei-operator-scraper"}, secret)
		token = string(secret.Data[corev1.ServiceAccountTokenKey])
		return token != "", "no token", err
	})
	return token
}

// shippedRules are the rules of config/monitoring as Prometheus itself takes them.
func (m *monitor) shippedRules() string {
	m.t.Helper()
	var all struct {
		Groups []struct {
			Name  string           `json:"name"`
			Rules []map[string]any `json:"rules"`
		} `json:"groups"`
	}
	for _, file := range []string{"rules.yaml", "chain-rules.yaml"} {
		content, err := os.ReadFile(filepath.Join(m.root, "config", "monitoring", file))
		if err != nil {
			m.t.Fatal(err)
		}
		object := struct {
			Spec any `json:"spec"`
		}{Spec: &all}
		groups := all.Groups
		all.Groups = nil
		if err := yaml.Unmarshal(content, &object); err != nil {
			m.t.Fatal(err)
		}
		all.Groups = append(groups, all.Groups...)
	}
	for _, g := range all.Groups {
		for _, r := range g.Rules {
			if name, ok := r["alert"].(string); ok {
				labels, _ := r["labels"].(map[string]any)
				cause, _ := labels["cause"].(string)
				m.rules = append(m.rules, alertRule{Alert: name, Expr: fmt.Sprint(r["expr"]), cause: cause})
			}
		}
	}
	rules, err := yaml.Marshal(all)
	if err != nil {
		m.t.Fatal(err)
	}
	return string(rules)
}

// scrapeNodes has the pods of all nodes of the namespace scraped, with the labels that the PodMonitor gives them, and
// waits until that many have told their height and the size of their mempool.
func (m *monitor) scrapeNodes(want int) {
	m.t.Helper()
	m.scrape(m.namespace)
	for _, metric := range []string{"sei_node_height", seid.MetricMempool} {
		m.awaitValue(metric+" of all nodes", fmt.Sprintf(`count(%s{namespace=%q})`, metric, m.namespace), func(v float64) bool { return int(v) >= want })
	}
}

// scrape has the pods of all nodes of some namespaces scraped.
func (m *monitor) scrape(namespaces ...string) {
	m.t.Helper()
	pods := &corev1.PodList{}
	for _, namespace := range namespaces {
		found := &corev1.PodList{}
		if err := m.List(m.t.Context(), found, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelNode}); err != nil {
			m.t.Fatal(err)
		}
		pods.Items = append(pods.Items, found.Items...)
	}
	for file, port := range map[string]int32{"sidecars.json": seid.PortSidecar, "seids.json": seid.PortMetrics} {
		type target struct {
			Targets []string          `json:"targets"`
			Labels  map[string]string `json:"labels"`
		}
		all := make([]target, 0, len(pods.Items))
		for _, p := range pods.Items {
			all = append(all, target{
				Targets: []string{net.JoinHostPort(p.Status.PodIP, strconv.Itoa(int(port)))},
				Labels: map[string]string{
					"namespace": p.Namespace, "name": p.Labels[v1alpha1.LabelNode], "chain": p.Labels[v1alpha1.LabelChain],
					"role": p.Labels[v1alpha1.LabelRole], "fleet": p.Labels[v1alpha1.LabelDeployment],
				},
			})
		}
		content, err := json.Marshal(all)
		if err != nil {
			m.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(m.folder, file), content, 0o600); err != nil {
			m.t.Fatal(err)
		}
	}
}

// alert is the expression of an alert, without its patience.
func (m *monitor) alert(name string) string { return m.alertFor(name, "") }

// alertFor is the expression of the alert of a name that is for one of several causes; empty for the first.
func (m *monitor) alertFor(name, cause string) string {
	m.t.Helper()
	i := slices.IndexFunc(m.rules, func(r alertRule) bool { return r.Alert == name && (cause == "" || r.cause == cause) })
	if i < 0 {
		m.t.Fatalf("config/monitoring has no alert %s %s", name, cause)
	}
	return strings.TrimSpace(m.rules[i].Expr)
}

// refusesStrangers asks for the metrics without a token, with the token of an account that may not read them, and with
// the scraper's.
func (m *monitor) refusesStrangers() {
	m.t.Helper()
	stranger, err := m.kubectl(m.t.Context(), nil, "create", "token", "default", "--namespace="+m.namespace)
	if err != nil {
		m.t.Fatal(err)
	}
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer web.CloseIdleConnections()
	for _, c := range []struct {
		who, token string
		want       int
	}{
		{"nobody", "", http.StatusUnauthorized},
		{"an account without the role", strings.TrimSpace(string(stranger)), http.StatusForbidden},
		{"the scraper", m.token, http.StatusOK},
	} {
		request, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, "https://"+m.target+"/metrics", http.NoBody)
		if err != nil {
			m.t.Fatal(err)
		}
		if c.token != "" {
			request.Header.Set("Authorization", "Bearer "+c.token)
		}
		response, err := web.Do(request)
		if err != nil {
			m.t.Fatal(err)
		}
		_ = response.Body.Close()
		m.t.Logf("GET /metrics as %s: %s", c.who, response.Status)
		if response.StatusCode != c.want {
			m.t.Errorf("GET /metrics as %s: %s, want %d", c.who, response.Status, c.want)
		}
	}
}

// rpcFleet is a fleet of full nodes.
func (s *scenario) rpcFleet(name string, replicas int32) *v1alpha1.SeiNodeDeployment {
	node := s.fullNode(name)
	snd := &v1alpha1.SeiNodeDeployment{ObjectMeta: metav1.ObjectMeta{Name: name}}
	snd.Spec.Replicas, snd.Spec.Template.Spec = replicas, node.Spec
	return snd
}

// noticesALostGate deletes a node's pod. Whether the alert's expression was true in between is asked of the past: it may
// be over between two looks.
func (m *monitor) noticesALostGate(node string) {
	m.t.Helper()
	expr := fmt.Sprintf(`(%s) and on (namespace, name) seinode_phase{namespace=%q,name=%q}`, m.alert("SidecarReadinessLost"), m.namespace, node)
	m.awaitNothing("SidecarReadinessLost of a settled node", expr)
	deleted := time.Now()
	m.replacePod(node, m.deletePod)
	// The node's status may still be that of the pod before.
	await(m.t, inSyncTimeout, "SidecarReadinessLost after the pod was deleted", func(ctx context.Context) (bool, string, error) {
		history, err := m.Range(ctx, expr, deleted, time.Now(), 500*time.Millisecond)
		return len(history) == 1, "never true", err
	})
	m.awaitInSync(node)
	m.awaitNothing("SidecarReadinessLost to be over", expr)
	history, err := m.Range(m.t.Context(), expr, deleted, time.Now(), 500*time.Millisecond)
	if err != nil || len(history) != 1 {
		m.t.Fatalf("history %v, %v", history, err)
	}
	points := history[0].Points
	m.t.Logf("SidecarReadinessLost of %s: true from %.1f s to %.1f s after its pod was deleted, now false", node,
		points[0].At.Sub(deleted).Seconds(), points[len(points)-1].At.Sub(deleted).Seconds())
}

// noticesARollout changes the image of a fleet that rests.
func (m *monitor) noticesARollout(name string) {
	m.t.Helper()
	expr := fmt.Sprintf(`sum(rate(seinodedeployment_status_patches_total{namespace=%q,name=%q,result="changed"}[1m]))`, m.namespace, name)
	m.awaitValue("a fleet that rests not to be written", expr, isZero)
	snd := &v1alpha1.SeiNodeDeployment{}
	m.mustGet(name, snd)
	before := snd.DeepCopy()
	snd.Spec.Template.Spec.Image = imageNext
	if err := m.Patch(m.t.Context(), snd, client.MergeFrom(before)); err != nil {
		m.t.Fatal(err)
	}
	changed := time.Now()
	m.awaitValue("status writes by the rollout", expr, func(v float64) bool { return v > 0 })
	m.awaitUpdated(name, imageNext)
	m.t.Logf("the rollout took %.1f s", time.Since(changed).Seconds())
	m.awaitValue("status writes to end", expr, isZero)
	history, err := m.Range(m.t.Context(), expr, changed, time.Now(), 5*time.Second)
	if err != nil || len(history) != 1 {
		m.t.Fatalf("history %v, %v", history, err)
	}
	values := make([]string, 0, len(history[0].Points))
	for _, p := range history[0].Points {
		values = append(values, fmt.Sprintf("%.3f", p.Value))
	}
	m.t.Logf("%s, every 5 s since the change: %s", expr, strings.Join(values, " "))
}

// awaitUpdated waits until every node of a fleet runs an image and is in sync.
func (m *monitor) awaitUpdated(name, image string) {
	m.t.Helper()
	await(m.t, inSyncTimeout, fmt.Sprintf("%s to run %s", name, image), func(context.Context) (bool, string, error) {
		snd := &v1alpha1.SeiNodeDeployment{}
		err := m.get(name, snd)
		done := snd.Status.Rollout == nil && snd.Status.ReadyReplicas == snd.Spec.Replicas && snd.Status.ObservedGeneration == snd.Generation
		for _, n := range snd.Status.Nodes {
			done = done && n.CurrentImage == image
		}
		return done, describeFleet(snd), err
	})
}

func isZero(v float64) bool { return v == 0 }

// awaitValue waits until an expression has one value that will do.
func (m *monitor) awaitValue(what, expr string, will func(float64) bool) {
	m.t.Helper()
	var last float64
	await(m.t, inSyncTimeout, what, func(ctx context.Context) (bool, string, error) {
		answer, err := m.Query(ctx, expr)
		if err != nil || len(answer) != 1 {
			return false, fmt.Sprintf("%d series for %s", len(answer), expr), err
		}
		last = answer[0].Last()
		return will(last), fmt.Sprintf("%s = %g", expr, last), nil
	})
	m.t.Logf("  %s = %g", expr, last)
}

// awaitNothing waits until an expression is true of nothing.
func (m *monitor) awaitNothing(what, expr string) {
	m.t.Helper()
	await(m.t, inSyncTimeout, what+": no answer", func(ctx context.Context) (bool, string, error) {
		answer, err := m.Query(ctx, expr)
		return len(answer) == 0, fmt.Sprint(answer), err
	})
}

// checkPanels asks every query of the dashboards, as Grafana would for the named objects. E2E_PICTURES=FOLDER also draws
// what was answered.
func (m *monitor) checkPanels(names map[string]string) {
	m.t.Helper()
	all, err := dashboards.Load(filepath.Join(m.root, "config", "monitoring", "dashboards"))
	if err != nil {
		m.t.Fatal(err)
	}
	queries, until := 0, time.Now()
	for _, d := range all {
		given := map[string]string{"namespace": m.namespace, "name": names[d.File], "__rate_interval": "1m"}
		var pictures []chart.Panel
		for _, p := range d.Panels {
			lines := []chart.Line{}
			for _, q := range p.Targets {
				expr, err := q.With(given)
				if err != nil {
					m.t.Fatalf("%s: %s: %v", d.File, p.Title, err)
				}
				queries++
				lines = append(lines, m.askPanel(d, p, q, expr, until)...)
			}
			pictures = append(pictures, chart.Panel{
				Kind: panelKinds[p.Type], Title: p.Title, Unit: p.FieldConfig.Defaults.Unit, Lines: lines,
				X: p.GridPos.X, Y: p.GridPos.Y, W: p.GridPos.W, H: p.GridPos.H,
			})
		}
		m.draw(d, until, pictures)
	}
	m.t.Logf("%d queries of %d dashboards have answers", queries, len(all))
}

// panelKinds are how Grafana's panels are drawn.
var panelKinds = map[string]chart.Kind{"row": chart.Row, "stat": chart.Figures, "state-timeline": chart.States, "timeseries": chart.Lines}

// askPanel asks one query for now and for the time of the test, in which it must have shown something: what counts since
// the operator started is gone for now if another scenario has just restarted it.
func (m *monitor) askPanel(d dashboards.Dashboard, p dashboards.Panel, q dashboards.Query, expr string, until time.Time) []chart.Line {
	m.t.Helper()
	answer, err := m.Query(m.t.Context(), expr)
	if err != nil {
		m.t.Fatal(err)
	}
	shown := make([]string, 0, len(answer))
	for _, s := range answer {
		if v := s.Last(); !math.IsNaN(v) {
			shown = append(shown, fmt.Sprintf("%s %.4g", q.Name(s.Labels), v))
		}
	}
	slices.Sort(shown)
	m.t.Logf("%s: %s: %s", d.File, p.Title, strings.Join(shown, ", "))
	history, err := m.Range(m.t.Context(), expr, m.began, until, 2*time.Second)
	if err != nil {
		m.t.Fatal(err)
	}
	lines, empty := make([]chart.Line, 0, len(history)), len(shown) == 0
	for _, s := range history {
		empty = empty && !slices.ContainsFunc(s.Points, func(p prometheus.Point) bool { return !math.IsNaN(p.Value) })
		lines = append(lines, chart.Line{Name: q.Name(s.Labels), Points: s.Points})
	}
	if empty {
		m.t.Errorf("%s: the panel %q is empty: %s", d.File, p.Title, expr)
	}
	slices.SortFunc(lines, func(a, b chart.Line) int { return strings.Compare(a.Name, b.Name) })
	return lines
}

func (m *monitor) draw(d dashboards.Dashboard, until time.Time, panels []chart.Panel) {
	m.t.Helper()
	folder := os.Getenv("E2E_PICTURES")
	if folder == "" {
		return
	}
	file := filepath.Join(folder, "dashboard-"+strings.TrimSuffix(d.File, ".json")+".svg")
	if err := os.WriteFile(file, chart.SVG(d.Title, m.began, until, panels), 0o644); err != nil {
		m.t.Error(err)
	}
}
