package peers_test

import (
	"encoding/xml"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sei-operator/sei-operator/internal/peers"
)

// machine is an instance of the fake cloud.
type machine struct {
	id, state                       string
	publicName, publicIP, privateIP string
	tags                            map[string]string
}

// ec2Server speaks the part of the EC2 query protocol that DescribeInstances
// needs. Like the real one it refuses unsigned requests, unknown filters and
// foreign page tokens, and it answers in pages.
type ec2Server struct {
	machines []machine
	pageSize int

	mu    sync.Mutex
	calls []string // regions the requests were signed for
}

func (s *ec2Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	region, ok := signedRegion(r)
	if !ok {
		refuse(w, http.StatusUnauthorized, "AuthFailure")
		return
	}
	s.mu.Lock()
	s.calls = append(s.calls, region)
	s.mu.Unlock()
	if err := r.ParseForm(); err != nil || r.PostForm.Get("Action") != "DescribeInstances" || r.PostForm.Get("Version") != "2016-11-15" {
		refuse(w, http.StatusBadRequest, "InvalidAction")
		return
	}
	found := s.machines
	for n := 1; r.PostForm.Has(fmt.Sprintf("Filter.%d.Name", n)); n++ {
		name, value := r.PostForm.Get(fmt.Sprintf("Filter.%d.Name", n)), r.PostForm.Get(fmt.Sprintf("Filter.%d.Value.1", n))
		match, ok := filter(name, value)
		if !ok {
			refuse(w, http.StatusBadRequest, "InvalidParameterValue")
			return
		}
		found = slices.DeleteFunc(slices.Clone(found), func(m machine) bool { return !match(m) })
	}
	s.page(w, r, found)
}

// signedRegion reads the region from a version 4 signature.
func signedRegion(r *http.Request) (string, bool) {
	scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	parts := strings.Split(rest, "/") // Credential=KEY/date/region/ec2/aws4_request,...
	if scheme != "AWS4-HMAC-SHA256" || len(parts) < 5 || parts[3] != "ec2" || !strings.Contains(rest, "Signature=") {
		return "", false
	}
	return parts[2], true
}

func filter(name, value string) (func(machine) bool, bool) {
	if key, ok := strings.CutPrefix(name, "tag:"); ok {
		return func(m machine) bool { return m.tags[key] == value }, true
	}
	return func(m machine) bool { return m.state == value }, name == "instance-state-name"
}

func (s *ec2Server) page(w http.ResponseWriter, r *http.Request, found []machine) {
	if size, err := strconv.Atoi(r.PostForm.Get("MaxResults")); err != nil || size < 5 || size > 1000 {
		refuse(w, http.StatusBadRequest, "InvalidParameterValue")
		return
	}
	start := 0
	if token := r.PostForm.Get("NextToken"); token != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(token, "page-"))
		if err != nil || n > len(found) {
			refuse(w, http.StatusBadRequest, "InvalidNextToken")
			return
		}
		start = n
	}
	end := min(start+s.pageSize, len(found))
	w.Header().Set("Content-Type", "text/xml")
	_, _ = fmt.Fprint(w, `<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r</requestId><reservationSet>`)
	for _, m := range found[start:end] {
		_, _ = fmt.Fprintf(w, `<item><instancesSet><item><instanceId>%s</instanceId><dnsName>%s</dnsName><ipAddress>%s</ipAddress><privateIpAddress>%s</privateIpAddress><tagSet>`,
			m.id, m.publicName, m.publicIP, m.privateIP)
		for key, value := range m.tags {
			_, _ = fmt.Fprint(w, "<item><key>")
			_ = xml.EscapeText(w, []byte(key))
			_, _ = fmt.Fprint(w, "</key><value>")
			_ = xml.EscapeText(w, []byte(value))
			_, _ = fmt.Fprint(w, "</value></item>")
		}
		_, _ = fmt.Fprint(w, `</tagSet></item></instancesSet></item>`)
	}
	_, _ = fmt.Fprint(w, `</reservationSet>`)
	if end < len(found) {
		_, _ = fmt.Fprintf(w, `<nextToken>page-%d</nextToken>`, end)
	}
	_, _ = fmt.Fprint(w, `</DescribeInstancesResponse>`)
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `<Response><Errors><Error><Code>%s</Code><Message>no</Message></Error></Errors><RequestID>r</RequestID></Response>`, code)
}

// connect points the SDK's default configuration at the fake.
func connect(t *testing.T, server *ec2Server) {
	t.Helper()
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_EC2": web.URL, "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
		"AWS_PROFILE": "", "AWS_REGION": "", "AWS_CA_BUNDLE": "",
	} {
		t.Setenv(name, value)
	}
}

func rpcNode(t *testing.T, body string) int32 {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/status" {
			http.NotFound(w, r)
			return
		}
		_, _ = fmt.Fprint(w, body)
	}))
	t.Cleanup(web.Close)
	return int32(web.Listener.Addr().(*net.TCPAddr).Port)
}

func tagged(extra ...string) map[string]string {
	tags := map[string]string{"role": "rpc", "team": "a&b <c>"}
	for i := 0; i < len(extra); i += 2 {
		tags[extra[i]] = extra[i+1]
	}
	return tags
}

func TestEC2_FindsRunningInstancesOverAllPages(t *testing.T) {
	server := &ec2Server{pageSize: 2, machines: []machine{
		{id: "i-1", state: "running", publicName: "ec2-1.example.com", publicIP: "198.18.0.1", privateIP: "10.0.0.1", tags: tagged("sei.io/node-id", id("1"))},
		{id: "i-2", state: "running", publicIP: "198.18.0.2", privateIP: "10.0.0.2", tags: tagged("sei.io/node-id", id("2"), "sei.io/p2p-port", "30000")},
		{id: "i-3", state: "running", privateIP: "10.0.0.3", tags: tagged("sei.io/node-id", id("3"))},
		{id: "i-4", state: "stopped", privateIP: "10.0.0.4", tags: tagged("sei.io/node-id", id("4"))},
		{id: "i-5", state: "running", privateIP: "10.0.0.5", tags: map[string]string{"role": "rpc"}},
		{id: "i-6", state: "running", tags: tagged("sei.io/node-id", id("6"))},
		{id: "i-7", state: "running", privateIP: "10.0.0.7", tags: tagged("sei.io/node-id", id("7"), "sei.io/p2p-port", "p2p")},
	}}
	connect(t, server)
	got, err := (&peers.EC2{}).Find(t.Context(), "eu-central-1", tagged())
	if err != nil {
		t.Fatal(err)
	}
	want := []peers.Instance{
		{ID: "i-1", Host: "ec2-1.example.com", Port: 26656, NodeID: id("1")},
		{ID: "i-2", Host: "198.18.0.2", Port: 30000, NodeID: id("2")},
		{ID: "i-3", Host: "10.0.0.3", Port: 26656, NodeID: id("3")},
		{ID: "i-6", Port: 26656, Problem: "it has no address"},
		{ID: "i-7", Host: "10.0.0.7", Problem: `tag sei.io/p2p-port is "p2p", which is not a port`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("instances (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"eu-central-1", "eu-central-1", "eu-central-1"}, server.calls); diff != "" {
		t.Errorf("signed for regions (-want +got):\n%s", diff)
	}
}

func TestEC2_WithoutNodeIDTag_AsksTheInstancesRPC(t *testing.T) {
	cases := map[string]struct{ body, wantID, wantProblem string }{
		"answers":  {`{"node_info":{"id":"` + id("a") + `"},"sync_info":{"latest_block_height":"1","earliest_block_height":"1","max_peer_block_height":"0"},"validator_info":{"voting_power":"0"}}`, id("a"), ""},
		"no id":    {`{"node_info":{"id":"x,y"},"sync_info":{"latest_block_height":"1","earliest_block_height":"1","max_peer_block_height":"0"},"validator_info":{"voting_power":"0"}}`, "", `its RPC reports "x,y", which is not a node ID`},
		"nonsense": {`<html>`, "", "it has no tag sei.io/node-id, and querying its RPC: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			connect(t, &ec2Server{pageSize: 10, machines: []machine{{id: "i-1", state: "running", privateIP: "127.0.0.1", tags: tagged()}}})
			got, err := (&peers.EC2{RPCPort: rpcNode(t, tc.body)}).Find(t.Context(), "eu-central-1", tagged())
			if err != nil || len(got) != 1 {
				t.Fatalf("Find = %v, %v", got, err)
			}
			if got[0].NodeID != tc.wantID || !strings.HasPrefix(got[0].Problem, tc.wantProblem) || (tc.wantProblem == "") != (got[0].Problem == "") {
				t.Errorf("instance = %+v", got[0])
			}
		})
	}
}

func TestEC2_OddHost_IsNotAsked(t *testing.T) {
	connect(t, &ec2Server{pageSize: 10, machines: []machine{{id: "i-1", state: "running", privateIP: "user@127.0.0.1", tags: tagged()}}})
	got, err := (&peers.EC2{}).Find(t.Context(), "eu-central-1", tagged())
	if err != nil || len(got) != 1 || got[0].Problem != `host "user@127.0.0.1" is neither a name nor an IP address` {
		t.Errorf("Find = %+v, %v", got, err)
	}
}

func TestEC2_Refused_SaysWhere(t *testing.T) {
	connect(t, &ec2Server{pageSize: 10})
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	_, err := (&peers.EC2{}).Find(t.Context(), "eu-central-1", tagged())
	if err == nil || !strings.HasPrefix(err.Error(), "describing instances in region eu-central-1: ") {
		t.Errorf("err = %v", err)
	}
}

func TestEC2_RegionThatIsNone_NeverLeavesTheProcess(t *testing.T) {
	server := &ec2Server{pageSize: 10}
	connect(t, server)
	for _, region := range []string{"", "evil.example/", "EU", "a.b-1", "x"} {
		if _, err := (&peers.EC2{}).Find(t.Context(), region, tagged()); err == nil {
			t.Errorf("region %q was accepted", region)
		}
	}
	if len(server.calls) != 0 {
		t.Errorf("calls for %v", server.calls)
	}
}

func TestEC2_TagsThatMatchFarTooMuch_AreAnError(t *testing.T) {
	server := &ec2Server{pageSize: 1000}
	for i := range 2001 {
		server.machines = append(server.machines, machine{id: fmt.Sprintf("i-%d", i), state: "running", privateIP: "10.0.0.1", tags: tagged("sei.io/node-id", id("1"))})
	}
	connect(t, server)
	if _, err := (&peers.EC2{}).Find(t.Context(), "eu-central-1", tagged()); err == nil || !strings.Contains(err.Error(), "name more tags") {
		t.Errorf("err = %v", err)
	}
}

var _ peers.Instances = (*peers.EC2)(nil)
var _ peers.Instances = (*peers.Cache)(nil)
