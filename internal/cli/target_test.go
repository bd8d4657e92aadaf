package cli

import "testing"

func TestNames_OfTheOtherKindOrOfNothing_AreExplained(t *testing.T) {
	p := aCluster(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"why", "rpc"}, "rpc is a fleet: name one of its nodes; kubectl sei status fleet/rpc shows them"},
		{[]string{"why", "fleet/rpc"}, `"fleet/rpc" is not a node`},
		{[]string{"why", "node/nobody"}, `no SeiNode "nobody" in namespace sei`},
		{[]string{"rollout", "status", "rpc-0"}, "rpc-0 is a node: name a fleet"},
		{[]string{"rollout", "status", "node/rpc-0"}, `"node/rpc-0" is not a fleet`},
		{[]string{"rollout", "status", "nobody"}, `no SeiNodeDeployment "nobody" in namespace sei`},
		{[]string{"status", "nobody"}, `no SeiNode or SeiNodeDeployment "nobody" in namespace sei`},
	} {
		if _, err := p.run(t, c.args...); err == nil || err.Error() != c.want {
			t.Errorf("%v: got %v, want %s", c.args, err, c.want)
		}
	}
}
