package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/sei-operator/sei-operator/tools/cluster/internal/host"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/image"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/layout"
	"github.com/sei-operator/sei-operator/tools/cluster/internal/provisioner"
)

// awaitReady goes through what must come true, in order, and says when each did. What the node said of itself
// before the given time does not count; the zero time means that all counts.
func awaitReady(ctx context.Context, l layout.Layout, since time.Time, progress io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, layout.StartTimeout)
	defer cancel()
	clients, err := client(l)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		try  func(context.Context) error
	}{
		{"the container runtime", func(ctx context.Context) error { return loadPauseImage(ctx, l) }},
		{"the API server", func(ctx context.Context) error { return apiReady(ctx, clients) }},
		{"the storage class", func(ctx context.Context) error { return createStorageClass(ctx, clients) }},
		{"the node", func(ctx context.Context) error { return nodeReadySince(ctx, clients, since) }},
		{"the name server", func(ctx context.Context) error { return lookUp(ctx, l) }},
	} {
		began := time.Now()
		if err := await(ctx, l, step.try); err != nil {
			return fmt.Errorf("waiting for %s: %w", step.name, err)
		}
		_, _ = fmt.Fprintf(progress, "  %-22s ready after %s\n", step.name, time.Since(began).Round(100*time.Millisecond))
	}
	return nil
}

// await tries until it works, the time is up, or the node has died, and then tells the last reason.
func await(ctx context.Context, l layout.Layout, try func(context.Context) error) error {
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		record, readErr := host.ReadRecord(l)
		if readErr != nil {
			return readErr
		}
		if !record.Running() {
			return fmt.Errorf("the node ended: %s", lastLogLine(l))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; last: %w", context.Cause(ctx), err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func apiReady(ctx context.Context, clients kubernetes.Interface) error {
	if err := clients.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return fmt.Errorf("asking /readyz: %w", err)
	}
	return nil
}

func createStorageClass(ctx context.Context, clients kubernetes.Interface) error {
	_, err := clients.StorageV1().StorageClasses().Create(ctx, provisioner.StorageClass(), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating the storage class: %w", err)
	}
	return nil
}

// nodeReadySince also wants a sign of life: after a crash the API still holds what the kubelet said before.
func nodeReadySince(ctx context.Context, clients kubernetes.Interface, since time.Time) error {
	if err := nodeReady(ctx, clients); err != nil || since.IsZero() {
		return err
	}
	lease, err := clients.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(ctx, layout.NodeName, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the node's lease: %w", err)
	}
	if lease.Spec.RenewTime == nil || lease.Spec.RenewTime.Time.Before(since) {
		return errors.New("the kubelet has not reported since the start")
	}
	return nil
}

func nodeReady(ctx context.Context, clients kubernetes.Interface) error {
	node, err := clients.CoreV1().Nodes().Get(ctx, layout.NodeName, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the node: %w", err)
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
			return nil
		} else if c.Type == corev1.NodeReady {
			return errors.New(c.Message)
		}
	}
	return errors.New("the kubelet has not reported yet")
}

// loadPauseImage loads the image that every pod needs. It stands beside the program.
func loadPauseImage(ctx context.Context, l layout.Layout) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding the program: %w", err)
	}
	tarball := l.Path("pause.tar")
	if _, err := os.Stat(tarball); err != nil {
		spec := image.Spec{
			Tag:        layout.PauseImage,
			Files:      []image.File{{Source: filepath.Join(filepath.Dir(self), "pause"), Target: "/pause", Mode: 0o755}},
			Entrypoint: []string{"/pause"},
			User:       "65535:65535",
		}
		if err := image.Write(spec, tarball); err != nil {
			return err
		}
	}
	return importImage(ctx, l, tarball)
}

func lastLogLine(l layout.Layout) string {
	content, err := os.ReadFile(l.Log("node"))
	if err != nil {
		return err.Error()
	}
	content = bytes.TrimSpace(content)
	return string(content[bytes.LastIndexByte(content, '\n')+1:])
}
