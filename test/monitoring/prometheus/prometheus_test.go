package prometheus_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sei-operator/sei-operator/test/monitoring/prometheus"
)

func TestServer_ScrapesAndAnswers(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "../../../hack/prometheus.sh").Output()
	if err != nil {
		t.Fatalf("getting prometheus: %v", err)
	}
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintln(w, `answer{to="everything"} 42`)
	}))
	defer target.Close()
	folder := t.TempDir()
	config := fmt.Sprintf(`{global: {scrape_interval: 100ms}, scrape_configs: [{job_name: x, static_configs: [{targets: [%q]}]}]}`,
		strings.TrimPrefix(target.URL, "http://"))
	if err := os.WriteFile(filepath.Join(folder, "prometheus.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	server, err := prometheus.Start(t.Context(), strings.TrimSpace(string(out)), folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []prometheus.Series
	for len(got) == 0 && time.Since(began) < 30*time.Second {
		if got, err = server.Query(t.Context(), "answer"); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 1 || got[0].Last() != 42 || got[0].Labels["to"] != "everything" {
		t.Errorf("series %+v, want 1 of them, Last 42 and Labels %q", got, "everything")
	}
	history, err := server.Range(t.Context(), "answer", began, time.Now().Add(time.Second), 100*time.Millisecond)
	if err != nil || len(history) != 1 || len(history[0].Points) == 0 {
		t.Errorf("history %+v, %v", history, err)
	}
	if _, err := server.Query(t.Context(), "answer{"); err == nil || !strings.Contains(err.Error(), "400") {
		t.Errorf("a broken query gives %v", err)
	}
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
}
