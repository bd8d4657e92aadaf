package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
)

// pullingBlocks are so many that the image is pulled from the registry as well.
const pullingBlocks = noticedBlocks + 20

// upgradeFromRegistry goes through two upgrades whose images no machine has, and compares how long the chain stands. The
// first image is pulled ahead. The registry is away until the halt for the second, so that nobody can pull it ahead.
func (s *scenario) upgradeFromRegistry() {
	registry := newRegistry()
	s.fillRegistry(registry)
	s.openRegistry(registry)
	s.nameUpgrades(slices.Index(chainUpgrades, upgradePulledLate) + 1)
	ahead := s.upgradePulledAhead(registry)
	late := s.upgradePulledLate(registry)
	theReport.figuref(s.t, "from the halt for an upgrade to the next block, image pulled ahead / not", "%.1f s / %.1f s (%d MB at %d MB/s)",
		ahead.Seconds(), late.Seconds(), registry.sizes[upgradePulledLate]>>20, registryRate>>20)
}

// upgradePulledAhead has the image pulled before the halt, by pods that only pull. Nobody asks for it afterwards.
func (s *scenario) upgradePulledAhead(registry *imageRegistry) time.Duration {
	s.t.Helper()
	halt := s.watchHalt(s.everyNode()...)
	plan := s.planNext(upgradePulledAhead, "", pullingBlocks)
	for _, name := range s.everyNode() {
		s.awaitPulled(name, upgradeImage(plan.Name))
	}
	if sent, size := registry.sent.Load(), registry.sizes[plan.Name]; sent < size {
		s.t.Errorf("the registry gave %d bytes, want the %d of the image", sent, size)
	}
	s.undisturbed.Lock()
	defer s.undisturbed.Unlock()
	halted := halt.await()
	s.awaitHeight("v-0", plan.Height)
	took := time.Since(halted)
	s.awaitUpgraded(plan.Name, s.everyNode()...)
	if asked := registry.lastAsked(); !asked.Before(halted) {
		s.t.Errorf("the registry was asked for something %s after the halt", asked.Sub(halted))
	}
	pods := s.pulledBy(plan.Name)
	if len(pods) == 0 || slices.ContainsFunc(pods, func(pod string) bool { return !strings.HasSuffix(pod, "-pull") }) {
		s.t.Errorf("the image was pulled for pods %v, want those that only pull", pods)
	}
	s.awaitNoPulls()
	return took
}

// upgradePulledLate has the image pulled by the pods that need it, at the halt.
func (s *scenario) upgradePulledLate(registry *imageRegistry) time.Duration {
	s.t.Helper()
	registry.setClosed(true)
	before := registry.sent.Load()
	halt := s.watchHalt(s.everyNode()...)
	plan := s.planNext(upgradePulledLate, "", 5)
	s.undisturbed.Lock()
	defer s.undisturbed.Unlock()
	halted := halt.await()
	registry.setClosed(false)
	s.awaitHeight("v-0", plan.Height)
	took := time.Since(halted)
	s.awaitUpgraded(plan.Name, s.everyNode()...)
	if sent, size := registry.sent.Load()-before, registry.sizes[plan.Name]; sent < size {
		s.t.Errorf("the registry gave %d bytes, want the %d of the image", sent, size)
	}
	if pods := s.pulledBy(plan.Name); !slices.ContainsFunc(pods, func(pod string) bool { return strings.HasSuffix(pod, "-0") }) {
		s.t.Errorf("the image was pulled for pods %v, want that of a node among them", pods)
	}
	s.awaitNoPulls()
	return took
}

// fillRegistry puts the images in that are to be pulled.
func (s *scenario) fillRegistry(registry *imageRegistry) {
	s.t.Helper()
	folder := filepath.Join(s.root, ".cache", "images")
	for _, upgrade := range pulledUpgrades {
		image, err := variant(folder, upgrade)
		if err == nil {
			image, err = withOwnLayers(image, upgradeImage(upgrade))
		}
		if err == nil {
			err = registry.add(image, upgrade)
		}
		if err != nil {
			s.t.Fatalf("making the image of upgrade %s: %v", upgrade, err)
		}
	}
}

// pulledBy are the pods for which the kubelet has pulled the image of an upgrade. It says something else of an image that it
// has already.
func (s *scenario) pulledBy(upgrade string) (pods []string) {
	s.t.Helper()
	events := &corev1.EventList{}
	if err := s.List(s.t.Context(), events, client.InNamespace(s.namespace), client.MatchingFields{"reason": "Pulled"}); err != nil {
		s.t.Fatal(err)
	}
	for i := range events.Items {
		if strings.HasPrefix(events.Items[i].Message, fmt.Sprintf("Successfully pulled image %q", upgradeImage(upgrade))) {
			pods = append(pods, events.Items[i].InvolvedObject.Name)
		}
	}
	return pods
}

// awaitNoPulls waits until all pods that only pull are gone.
func (s *scenario) awaitNoPulls() {
	s.t.Helper()
	await(s.t, inSyncTimeout, "the pods that only pull to be gone", func(ctx context.Context) (bool, string, error) {
		pods := &corev1.PodList{}
		err := s.List(ctx, pods, client.InNamespace(s.namespace), client.HasLabels{v1alpha1.LabelImagePull})
		return len(pods.Items) == 0, fmt.Sprintf("%d are there", len(pods.Items)), err
	})
}
