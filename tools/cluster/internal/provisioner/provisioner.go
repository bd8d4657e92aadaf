package provisioner

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Provisioner makes and removes the folders behind volumes.
type Provisioner struct {
	// Client talks to the API server.
	Client kubernetes.Interface
	// Folder holds a folder per volume.
	Folder string
	// Node is the name of the only node.
	Node string
}

// job is a claim (with a namespace) or a volume (without).
type job = cache.ObjectName

// Run works until the context ends.
func (p *Provisioner) Run(ctx context.Context) error {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[job]())
	factory := informers.NewSharedInformerFactory(p.Client, 0)
	enqueue := func(object any) {
		if name, err := cache.DeletionHandlingObjectToName(object); err == nil {
			queue.Add(name)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, object any) { enqueue(object) }}
	claims, volumes := factory.Core().V1().PersistentVolumeClaims(), factory.Core().V1().PersistentVolumes()
	for _, informer := range []cache.SharedIndexInformer{claims.Informer(), volumes.Informer()} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("watching claims and volumes: %w", err)
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	go func() {
		<-ctx.Done()
		queue.ShutDown()
	}()
	for {
		next, stopped := queue.Get()
		if stopped {
			return nil
		}
		if err := p.work(ctx, next); err != nil {
			log.Printf("%s: %v", next, err)
			queue.AddRateLimited(next)
		} else {
			queue.Forget(next)
		}
		queue.Done(next)
	}
}

// work reads the object again: what the watch saw may be old, and both directions are safe to repeat.
func (p *Provisioner) work(ctx context.Context, name job) error {
	if name.Namespace == "" {
		volume, err := p.Client.CoreV1().PersistentVolumes().Get(ctx, name.Name, metav1.GetOptions{})
		if err != nil || !isSpent(volume) {
			return ignoreNotFound(err)
		}
		return p.remove(ctx, volume)
	}
	claim, err := p.Client.CoreV1().PersistentVolumeClaims(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
	if err != nil {
		return ignoreNotFound(err)
	}
	if needsVolume(claim) {
		return p.provision(ctx, claim)
	}
	return p.grow(ctx, claim)
}

func (p *Provisioner) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	if claim.Spec.StorageClassName == nil {
		return nil
	}
	class, err := p.Client.StorageV1().StorageClasses().Get(ctx, *claim.Spec.StorageClassName, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the storage class: %w", err)
	}
	volume := volumeFor(claim, class, p.Folder, p.Node)
	// Owned by root and closed to others, like a fresh disk: a pod gets at it through fsGroup.
	if err := os.MkdirAll(volume.Spec.Local.Path, 0o750); err != nil {
		return fmt.Errorf("making the volume's folder: %w", err)
	}
	_, err = p.Client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating the volume: %w", err)
	}
	return nil
}

func (p *Provisioner) remove(ctx context.Context, volume *corev1.PersistentVolume) error {
	// Only ever a folder directly below ours, whatever the volume says by now.
	if volume.Spec.Local == nil || filepath.Dir(volume.Spec.Local.Path) != filepath.Clean(p.Folder) {
		return errors.New("the volume's folder is not one of ours; remove the volume by hand")
	}
	if err := os.RemoveAll(volume.Spec.Local.Path); err != nil {
		return fmt.Errorf("removing the volume's folder: %w", err)
	}
	return ignoreNotFound(p.Client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, metav1.DeleteOptions{}))
}

// grow records the new size on the volume and then on the claim, as a resizer of real disks does.
func (p *Provisioner) grow(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	if claim.Spec.VolumeName == "" {
		return nil
	}
	volume, err := p.Client.CoreV1().PersistentVolumes().Get(ctx, claim.Spec.VolumeName, metav1.GetOptions{})
	if err != nil || !hasGrown(claim, volume) {
		return ignoreNotFound(err)
	}
	size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	volume.Spec.Capacity[corev1.ResourceStorage] = size
	if _, err := p.Client.CoreV1().PersistentVolumes().Update(ctx, volume, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("growing the volume: %w", err)
	}
	claim.Status.Capacity[corev1.ResourceStorage] = size
	claim.Status.Conditions = nil
	if _, err := p.Client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("growing the claim: %w", err)
	}
	return nil
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
