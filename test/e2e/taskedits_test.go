package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"golang.org/x/sys/unix"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/conditions"
	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/api/wire"
)

// submitEdited gives the sidecar of a node the proposal of a SeiNodeTask under its id, with another title, as somebody with the
// operator's token could. A sidecar that was just killed is waited for, unless the task ends meanwhile. It reports whether the
// sidecar took the task, and how that went.
func (s *scenario) submitEdited(name, node string) (taken bool, how string) {
	s.t.Helper()
	params := s.editedProposal(name)
	await(s.t, taskTimeout, "an edit of task "+name, func(context.Context) (bool, string, error) {
		task := &v1alpha1.SeiNodeTask{}
		if err := s.get(name, task); err != nil {
			return false, "", err
		}
		if task.Status.CompletedAt != nil {
			how = "the task was over first"
			return true, "", nil
		}
		if task.Status.Plan == nil {
			return false, "the task has not started", nil
		}
		id := task.Status.Plan.Tasks[0].ID
		deleted, err := s.callSidecar(node, http.MethodDelete, "/v0/tasks/"+id, nil)
		if err != nil {
			return false, err.Error(), nil //nolint:nilerr // a sidecar that is down is waited for
		}
		submitted, err := s.callSidecar(node, http.MethodPost, "/v0/tasks", api.TaskRequest{ID: id, Type: api.GovParamChange, Params: params})
		if err != nil {
			return false, err.Error(), nil //nolint:nilerr // it was killed in between
		}
		taken = submitted == http.StatusCreated
		how = fmt.Sprintf("deleted: %d; submitted with another title: %d", deleted, submitted)
		return true, "", nil
	})
	return taken, how
}

// editedProposal is the proposal of a task with another title and value.
func (s *scenario) editedProposal(name string) json.RawMessage {
	s.t.Helper()
	tx := s.govTx()
	params, err := json.Marshal(wire.GovParamChange{
		Transaction: wire.Transaction{ChainID: tx.ChainID, KeyName: "validator", Fees: tx.Fees, Gas: uint64(tx.Gas)},
		Proposal:    wire.Proposal{Title: name + " edited", Description: "a change", InitialDeposit: "2000000usei"},
		Changes:     []wire.ParamChange{{Subspace: "staking", Key: "MaxValidators", Value: json.RawMessage("37")}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return params
}

// awaitProposal waits until a task has made its proposal. One whose edited parameters came first has failed and says so: they
// have made its one proposal.
func (s *scenario) awaitProposal(name string) *v1alpha1.SeiNodeTask {
	s.t.Helper()
	task := &v1alpha1.SeiNodeTask{}
	await(s.t, taskTimeout, "task "+name, func(context.Context) (bool, string, error) {
		task = &v1alpha1.SeiNodeTask{}
		if err := s.get(name, task); err != nil {
			return false, "", err
		}
		edited := conditions.Is(task.Status.Conditions, v1alpha1.ConditionFailed, metav1.ConditionTrue, v1alpha1.ReasonSuperseded)
		if task.Status.Phase == v1alpha1.NodeTaskFailed && !edited {
			s.t.Fatalf("task %s failed: %s", name, describeTask(task))
		}
		return edited || conditions.Is(task.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, ""), describeTask(task), nil
	})
	return task
}

// callSidecar makes a request to a node's sidecar with the token that the operator would show it, and returns the status code of
// the answer.
func (s *scenario) callSidecar(node, method, path string, body any) (int, error) {
	s.t.Helper()
	return s.callSidecarBy("https", s.sidecarToken(s.sidecarAudience(node)), node, method, path, body)
}

// callSidecarBy makes a request to a node's sidecar by https or http with a token; none when it is empty.
func (s *scenario) callSidecarBy(scheme, token, node, method, path string, body any) (int, error) {
	s.t.Helper()
	pod := s.pod(node)
	address := net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(api.DefaultPort))
	data, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, fmt.Sprintf("%s://%s%s", scheme, address, path), bytes.NewReader(data))
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	request.Header.Set(api.HeaderNode, s.namespace+"/"+node)
	request.Header.Set(api.HeaderPodUID, string(pod.UID))
	web := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: s.sidecarTLS(node),
		DialContext: func(context.Context, string, string) (net.Conn, error) { return dialInPod(pod, address) },
	}}
	response, err := web.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// answerOf is the status that a node's sidecar answers with. It asks again while there is no answer: on a busy machine a
// handshake may take longer than the sidecar waits for the request.
func (s *scenario) answerOf(scheme, token, node, method, path string, body any) int {
	s.t.Helper()
	var status int
	err := waitFor(s.t.Context(), inSyncTimeout, "an answer of "+node+" to "+method+" "+path, func(context.Context) (bool, string, error) {
		var err error
		status, err = s.callSidecarBy(scheme, token, node, method, path, body)
		return err == nil, "", err
	})
	if err != nil {
		s.t.Error(err)
	}
	return status
}

// sidecarAudience is the audience of the tokens that a node's sidecar accepts.
func (s *scenario) sidecarAudience(node string) string {
	s.t.Helper()
	of := &v1alpha1.SeiNode{}
	s.mustGet(node, of)
	return api.NodeAudience(of.Namespace, of.Name, string(of.UID))
}

// sidecarToken is a token of the operator's account for an audience.
func (s *scenario) sidecarToken(audience string) string {
	s.t.Helper()
	return s.tokenOf(operatorNamespace, "sei-operator", audience)
}

// tokenOf is a token of a service account; without an audience it is for the API server.
func (s *scenario) tokenOf(namespace, name string, audiences ...string) string {
	s.t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}
	if err := s.SubResource("token").Create(s.t.Context(), account, request); err != nil {
		s.t.Fatalf("asking for a token of %s/%s: %v", namespace, name, err)
	}
	return request.Status.Token
}

// dialInPod connects to an address as a process of the pod would: from within its network namespace. The goroutine's thread
// is thrown away, because it may be left in that namespace.
func dialInPod(pod *corev1.Pod, address string) (net.Conn, error) {
	pids := processes(pod, []string{"/opt/sei/sidecar", "serve"})
	if len(pids) == 0 {
		return nil, fmt.Errorf("the sidecar of %s does not run", pod.Name)
	}
	type result struct {
		conn net.Conn
		err  error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		namespace, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pids[0]))
		if err == nil {
			err = unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET)
			_ = namespace.Close()
		}
		if err != nil {
			done <- result{nil, fmt.Errorf("entering the network of %s: %w", pod.Name, err)}
			return
		}
		conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(context.Background(), "tcp4", address)
		done <- result{conn, err}
	}()
	r := <-done
	return r.conn, r.err
}
