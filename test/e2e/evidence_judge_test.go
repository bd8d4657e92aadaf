package e2e

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sei-operator/sei-operator/test/envtest"
	"github.com/sei-operator/sei-operator/test/security/leaks"
)

// shownFindings is how many leaks are told one by one.
const shownFindings = 50

// wantNoLeaks says what has leaked, and reports whether nothing has.
func (c *cluster) wantNoLeaks() bool {
	findings, summary, err := c.evidence.judge()
	theReport.note("leaks", summary)
	for _, f := range findings[:min(len(findings), shownFindings)] {
		theReport.note("leaked", fmt.Sprintf("%s, %s, in %s at byte %d", f.Origin, f.Encoding, f.Place, f.Offset))
	}
	if err != nil {
		theReport.note("looking for leaks", err.Error())
	}
	return err == nil && len(findings) == 0
}

// judge looks for every secret of the run in everything that the run has left behind. It returns the findings, which
// name no secret, and a line for the report.
func (e *evidence) judge() (findings []leaks.Finding, summary string, err error) {
	began := time.Now()
	e.collectFiles()
	e.keepRest()
	if err := e.keepOperatorMetrics(); err != nil {
		e.complain("asking the operator for its metrics", err)
	}
	e.linkCores()
	e.stop()
	e.done.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	var seen leaks.Seen
	components, err := filepath.Glob(filepath.Join(e.state, "log", "*.log"))
	for _, root := range append(components, e.dir, filepath.Join(e.state, "audit"), e.recentFailures(), e.strangersTable()) {
		found, scanErr := e.finder.ScanTree(root, &seen)
		findings, err = append(findings, found...), errors.Join(err, scanErr)
	}
	findings = append(findings, e.finder.Find("the report", []byte(theReport.text(0, 0)))...)
	err = errors.Join(err, e.isComplete())
	findings, controlErr := e.withoutControl(findings)
	summary = fmt.Sprintf("%d secrets in %d spellings, looked for in %d files (%d MB) within %.1f s: %d found",
		len(e.secrets), e.finder.Len(), seen.Files, seen.Bytes>>20, time.Since(began).Seconds(), len(findings))
	return findings, summary, errors.Join(err, controlErr)
}

// isComplete says what was not collected: where nothing is looked through, nothing is found.
func (e *evidence) isComplete() (err error) {
	if len(e.secrets) == 0 && !envtest.OnlySome() {
		err = errors.New("the run had no secret")
	}
	for _, kind := range []string{"logs", "objects", "metrics"} {
		if files, globErr := filepath.Glob(filepath.Join(e.dir, kind, "*")); len(files) == 0 {
			err = errors.Join(err, fmt.Errorf("no %s were collected (%w)", kind, cmp.Or(globErr, fs.ErrNotExist)))
		}
	}
	return err
}

// withoutControl takes out what was leaked on purpose, into one log. If it is not there, nothing else would be found.
func (e *evidence) withoutControl(findings []leaks.Finding) (others []leaks.Finding, err error) {
	found := false
	for _, f := range findings {
		if e.control != "" && strings.HasPrefix(f.Origin, e.control) && strings.Contains(f.Place, "_"+leakerPod+"_") {
			found = true
			continue
		}
		others = append(others, f)
	}
	if e.control != "" && !found {
		err = errors.New("what was leaked on purpose into a log was not found: the search is of no use")
	}
	return others, err
}

// linkCores takes note of the memory that the kernel has written down for processes that crashed.
func (e *evidence) linkCores() {
	e.link("cores", filepath.Join(e.state, "volumes"), func(_ string, entry fs.DirEntry) bool {
		return entry.IsDir() || entry.Name() == "core" || strings.HasPrefix(entry.Name(), "core.")
	})
}

// recentFailures has what scenarios that failed have collected; a folder of an earlier run is not ours to judge.
func (e *evidence) recentFailures() string {
	dir := filepath.Join(e.root, ".cache", "test-failures", "e2e")
	if info, err := os.Stat(dir); err != nil || info.ModTime().Before(e.began) {
		return e.dir
	}
	return dir
}

// keepOperatorMetrics asks for them as a scraper does.
func (e *evidence) keepOperatorMetrics() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "default"}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "e2e-metrics-reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "sei-operator-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
	}
	if err := e.Create(ctx, binding); err != nil && !apierrors.IsAlreadyExists(err) { // a kept cluster has it
		return fmt.Errorf("binding the role: %w", err)
	}
	request := &authenticationv1.TokenRequest{}
	if err := e.SubResource("token").Create(ctx, account, request); err != nil {
		return fmt.Errorf("asking for a token: %w", err)
	}
	service, err := e.clients.CoreV1().Services(operatorNamespace).Get(ctx, "sei-operator-metrics", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("finding the operator: %w", err)
	}
	get, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+service.Spec.ClusterIP+":8443/metrics", http.NoBody)
	if err != nil {
		return fmt.Errorf("making the request: %w", err)
	}
	get.Header.Set("Authorization", "Bearer "+request.Status.Token)
	// The certificate is made when the operator starts.
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	answer, err := web.Do(get)
	if err != nil {
		return fmt.Errorf("sending the request: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return fmt.Errorf("reading the answer: %s, %w", answer.Status, err)
	}
	e.write(filepath.Join("metrics", "operator"), content)
	return nil
}
