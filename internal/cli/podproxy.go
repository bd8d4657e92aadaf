package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// podAnswerTimeout bounds one question to a pod. A silent node must not keep the others from being shown.
const podAnswerTimeout = 5 * time.Second

// PodProxy asks a pod over HTTP.
type PodProxy interface {
	// Get returns the body of a GET request to a port of a pod. Scheme is http or https. What is not a
	// 2xx answer is an error.
	Get(ctx context.Context, pod types.NamespacedName, scheme string, port int, path string, query map[string]string) ([]byte, error)
}

// apiServerProxy goes through the API server, which needs the right `get` on `pods/proxy`. The API
// server does not verify the certificate of a pod.
type apiServerProxy struct{ clientset kubernetes.Interface }

// Get asks the pod through the API server.
func (p *apiServerProxy) Get(ctx context.Context, pod types.NamespacedName, scheme string, port int, path string, query map[string]string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, podAnswerTimeout)
	defer cancel()
	body, err := p.clientset.CoreV1().Pods(pod.Namespace).ProxyGet(scheme, pod.Name, strconv.Itoa(port), path, query).DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking pod %s at port %d for %s: %w", pod.Name, port, path, inWords(pod.Name, body, err))
	}
	return body, nil
}

// inWords is the error of a request whose answer is no 2xx, with what the answer says: the client leaves it
// out. That is a status of the API server, or text of the proxy or of the pod.
func inWords(pod string, body []byte, err error) error {
	var failed apierrors.APIStatus
	if !errors.As(err, &failed) || len(body) == 0 {
		return err
	}
	status := &metav1.Status{}
	if json.Unmarshal(body, status) == nil && status.Kind == "Status" {
		return &apierrors.StatusError{ErrStatus: *status}
	}
	return apierrors.NewGenericServerResponse(int(failed.Status().Code), "get", corev1.Resource("pods"), pod, string(body), 0, true)
}
