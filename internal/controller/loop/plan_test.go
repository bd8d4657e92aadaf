package loop_test

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/plan"
)

func TestLogPlan_OneLineWhenAPlanBeginsAndWhenItEnds(t *testing.T) {
	first, second := &v1alpha1.TaskPlan{ID: "first"}, &v1alpha1.TaskPlan{ID: "second"}
	called := plan.Progress{Steps: []plan.Step{{Task: &v1alpha1.PlannedTask{Type: "mark-ready"}}}}
	for name, c := range map[string]struct {
		was, is, ended *v1alpha1.TaskPlan
		want           string
	}{
		"no plan":                       {},
		"a plan begins":                 {is: first, want: "plan started first"},
		"a plan goes on":                {was: first, is: first},
		"a plan takes another's place":  {was: first, is: second, want: "plan started second"},
		"a plan ends":                   {was: first, ended: first, want: "plan ended first"},
		"a failed plan stays in status": {was: first, is: first, ended: first, want: "plan ended first"},
	} {
		var lines []string
		logger := funcr.NewJSON(func(line string) { lines = append(lines, line) }, funcr.Options{Verbosity: 0})
		loop.LogPlan(log.IntoContext(t.Context(), logger), called, c.was, c.is, c.ended)
		ok := len(lines) == 0 && c.want == ""
		if len(lines) == 1 && c.want != "" {
			at := strings.LastIndex(c.want, " ")
			ok = strings.Contains(lines[0], `"msg":"`+c.want[:at]+`"`) && strings.Contains(lines[0], `"plan":"`+c.want[at+1:]+`"`)
		}
		if !ok {
			t.Errorf("%s: logged %q", name, lines)
		}
	}
}
