package e2e

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// collect writes down what a person would ask for first: objects, events and the logs of all containers, of earlier
// lives too. It returns the folder and never fails, because it runs when something has failed already.
func (c *cluster) collect(name string, namespaces ...string) string {
	dir := filepath.Join(c.root, ".cache", "test-failures", "e2e", strings.ReplaceAll(name, "/", "-"))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := os.RemoveAll(dir); err != nil {
		return err.Error()
	}
	for _, namespace := range namespaces {
		into := filepath.Join(dir, namespace)
		if err := os.MkdirAll(into, 0o750); err != nil {
			return err.Error()
		}
		for file, args := range map[string][]string{
			"objects.yaml": {"get", "seinodes,seinodedeployments,statefulsets,jobs,pods,services,pvc", "-o", "yaml"},
			"nodes.txt":    {"describe", "seinodes"},
			"pods.txt":     {"describe", "pods"},
			"events.txt":   {"get", "events", "--sort-by=.metadata.creationTimestamp"},
		} {
			out, err := c.kubectl(ctx, nil, append(args, "-n", namespace)...)
			if err != nil {
				out = []byte(err.Error())
			}
			_ = os.WriteFile(filepath.Join(into, file), out, 0o600)
		}
		c.collectLogs(ctx, namespace, into)
	}
	return dir
}

func (c *cluster) collectLogs(ctx context.Context, namespace, into string) {
	pods, err := c.clients.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		for _, container := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
			for _, previous := range []bool{false, true} {
				log, err := c.log(ctx, pod, container.Name, previous)
				if err != nil {
					continue // there was no earlier life, or the container has not started
				}
				name := fmt.Sprintf("%s.%s.log", pod.Name, container.Name)
				if previous {
					name = "previous-" + name
				}
				_ = os.WriteFile(filepath.Join(into, name), log, 0o600)
			}
		}
	}
}

func (c *cluster) log(ctx context.Context, pod *corev1.Pod, container string, previous bool) ([]byte, error) {
	stream, err := c.clients.CoreV1().Pods(pod.Namespace).
		GetLogs(pod.Name, &corev1.PodLogOptions{Container: container, Previous: previous}).Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the log of %s: %w", container, err)
	}
	defer func() { _ = stream.Close() }()
	log, err := io.ReadAll(stream)
	if err != nil {
		return nil, fmt.Errorf("reading the log of %s: %w", container, err)
	}
	return log, nil
}
