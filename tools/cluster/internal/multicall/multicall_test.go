package multicall

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRun_PicksTheProgramByNameOrFirstArgument(t *testing.T) {
	tests := map[string]struct {
		args     []string
		wantArgs []string
		wantCode int
	}{
		"symlink with a path": {
			args: []string{"/opt/bin/etcd", "--name", "a"}, wantArgs: []string{"/opt/bin/etcd", "--name", "a"}, wantCode: 11,
		},
		"symlink without arguments":        {args: []string{"kubectl"}, wantArgs: []string{"kubectl"}, wantCode: 12},
		"first argument":                   {args: []string{"./cluster", "kubectl", "get", "pods"}, wantArgs: []string{"kubectl", "get", "pods"}, wantCode: 12},
		"name wins over first argument":    {args: []string{"etcd", "kubectl"}, wantArgs: []string{"etcd", "kubectl"}, wantCode: 11},
		"first argument is not a path":     {args: []string{"cluster", "/bin/etcd"}, wantCode: 2},
		"a prefix of a name is not a name": {args: []string{"cluster", "kube"}, wantCode: 2},
		"no argument":                      {args: []string{"cluster"}, wantCode: 2},
		"empty command line":               {args: nil, wantCode: 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := os.Args
			t.Cleanup(func() { os.Args = before })
			var seen []string
			program := func(code int) func() int {
				return func() int { seen = os.Args; return code }
			}
			table := Table{{Name: "etcd", Main: program(11)}, {Name: "kubectl", Main: program(12)}}

			code := Run(table, tc.args, &bytes.Buffer{})

			if code != tc.wantCode {
				t.Errorf("exit code %d, want %d", code, tc.wantCode)
			}
			if diff := cmp.Diff(tc.wantArgs, seen); diff != "" {
				t.Errorf("arguments the program saw (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRun_UnknownComponent_NamesItAndListsTheOthers(t *testing.T) {
	var out bytes.Buffer
	Run(Table{{Name: "etcd", About: "the store"}}, []string{"cluster", "kubeadm"}, &out)

	for _, want := range []string{`unknown component "kubeadm"`, "etcd", "the store"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("usage text lacks %q:\n%s", want, out.String())
		}
	}
}
