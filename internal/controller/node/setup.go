package node

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/sei-operator/sei-operator/api/v1alpha1"
	"github.com/sei-operator/sei-operator/internal/controller/loop"
	"github.com/sei-operator/sei-operator/internal/render"
)

// Indexes of the SeiNode cache.
const (
	indexSecret     = "node.secrets"
	indexImport     = "node.importedClaim"
	indexLabelPeers = "node.hasLabelPeers"
	indexChain      = "node.chain"
)

// SetupWithManager registers the reconciler with its watches. Whatever a node depends
// on wakes it up. What no event tells, the state of the chain, is asked for now and then.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, concurrency int) error {
	r.init()
	if err := indexNodes(mgr); err != nil {
		return err
	}
	secretMeta := &metav1.PartialObjectMetadata{}
	secretMeta.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	owned := handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &v1alpha1.SeiNode{}, handler.OnlyControllerOwner())
	err := ctrl.NewControllerManagedBy(mgr).
		Named("seinode").
		For(&v1alpha1.SeiNode{}, builder.WithPredicates(loop.AskedForChange())).
		Watches(&appsv1.StatefulSet{}, underWay{handler.EnqueueRequestsFromMapFunc(sameName)}).
		Watches(&corev1.Service{}, owned).
		Watches(&networkingv1.NetworkPolicy{}, handler.EnqueueRequestsFromMapFunc(sameName)).
		Watches(&batchv1.Job{}, owned).
		Watches(&corev1.PersistentVolumeClaim{}, handler.EnqueueRequestsFromMapFunc(r.nodesOfClaim)).
		Watches(&corev1.Pod{}, underWay{handler.EnqueueRequestsFromMapFunc(nodeOfPod)}).
		Watches(secretMeta, handler.EnqueueRequestsFromMapFunc(r.nodesOfSecret), builder.OnlyMetadata).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.nodesOfGenesis)).
		Watches(&v1alpha1.SeiNode{}, handler.EnqueueRequestsFromMapFunc(r.nodesPeeringWith), builder.WithPredicates(peerFactsChanged())).
		WatchesRawSource(source.Channel(r.looks.late, &handler.TypedEnqueueRequestForObject[*v1alpha1.SeiNode]{})).
		WithOptions(loop.Options(concurrency)).
		Complete(r.Tracer.Reconciler(v1alpha1.KindSeiNode, r))
	if err != nil {
		return fmt.Errorf("setting up the SeiNode controller: %w", err)
	}
	return nil
}

func indexNodes(mgr ctrl.Manager) error {
	for field, values := range map[string]func(*v1alpha1.SeiNode) []string{
		indexSecret:     referencedSecrets,
		indexImport:     func(n *v1alpha1.SeiNode) []string { return nonEmpty(n.Spec.ImportedClaim()) },
		indexChain:      func(n *v1alpha1.SeiNode) []string { return nonEmpty(n.Spec.ChainID) },
		indexLabelPeers: hasLabelPeers,
	} {
		err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.SeiNode{}, field,
			func(o client.Object) []string { return values(o.(*v1alpha1.SeiNode)) })
		if err != nil {
			return fmt.Errorf("indexing SeiNodes by %s: %w", field, err)
		}
	}
	return nil
}

func hasLabelPeers(n *v1alpha1.SeiNode) []string {
	for _, p := range n.Spec.Peers {
		if p.Label != nil {
			return []string{"true"}
		}
	}
	return nil
}

func referencedSecrets(n *v1alpha1.SeiNode) []string {
	names := append(nonEmpty(n.Spec.SigningKeySecret()), nonEmpty(n.Spec.NodeKeySecret())...)
	if k := n.Spec.OperatorKeyringSecret(); k != nil {
		names = append(names, k.SecretName, k.PassphraseSecretRef.SecretName)
	}
	return names
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// peerFactsChanged lets through what makes a node a better, a different or no peer.
func peerFactsChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return e.Object.(*v1alpha1.SeiNode).Status.NodeID != "" },
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, is := e.ObjectOld.(*v1alpha1.SeiNode), e.ObjectNew.(*v1alpha1.SeiNode)
			return was.Status.NodeID != is.Status.NodeID || !maps.Equal(was.Labels, is.Labels)
		},
		GenericFunc: loop.Never[event.GenericEvent],
	}
}

// sameName maps a StatefulSet or NetworkPolicy to the node of its name: also one that took the
// place of ours, or that keeps it.
func sameName(_ context.Context, o client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(o)}}
}

func nodeOfPod(_ context.Context, o client.Object) []reconcile.Request {
	name := cmp.Or(o.GetLabels()[v1alpha1.LabelNode], o.GetLabels()[v1alpha1.LabelImagePull])
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}}}
}

func (r *Reconciler) nodesOfClaim(ctx context.Context, o client.Object) []reconcile.Request {
	found := r.nodesWith(ctx, o.GetNamespace(), indexImport, o.GetName())
	if name := o.GetLabels()[v1alpha1.LabelNode]; name != "" {
		found = append(found, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}})
	}
	return found
}

func (r *Reconciler) nodesOfSecret(ctx context.Context, o client.Object) []reconcile.Request {
	found := r.nodesWith(ctx, o.GetNamespace(), indexSecret, o.GetName())
	if name := render.NodeOfCertificate(o.GetName()); name != "" {
		found = append(found, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}})
	}
	return found
}

func (r *Reconciler) nodesOfGenesis(ctx context.Context, o client.Object) []reconcile.Request {
	chain := o.GetLabels()[v1alpha1.LabelGenesis]
	if chain == "" {
		return nil
	}
	return r.nodesWith(ctx, o.GetNamespace(), indexChain, chain)
}

func (r *Reconciler) nodesWith(ctx context.Context, namespace, index, value string) []reconcile.Request {
	list := &v1alpha1.SeiNodeList{}
	if err := r.Client.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{index: value}); err != nil {
		return nil // the cache answers; it fails only while shutting down
	}
	return requestsFor(list.Items)
}

// nodesPeeringWith maps a node to those that find it by its labels.
func (r *Reconciler) nodesPeeringWith(ctx context.Context, o client.Object) []reconcile.Request {
	list := &v1alpha1.SeiNodeList{}
	if err := r.Client.List(ctx, list, client.MatchingFields{indexLabelPeers: "true"}); err != nil {
		return nil
	}
	var found []v1alpha1.SeiNode
	for i := range list.Items {
		if findsByLabel(&list.Items[i], o) {
			found = append(found, list.Items[i])
		}
	}
	return requestsFor(found)
}

func findsByLabel(node *v1alpha1.SeiNode, peer client.Object) bool {
	for _, p := range node.Spec.Peers {
		if p.Label == nil || client.ObjectKeyFromObject(node) == client.ObjectKeyFromObject(peer) {
			continue
		}
		namespace := p.Label.Namespace
		if namespace == "" {
			namespace = node.Namespace
		}
		if namespace == peer.GetNamespace() && labels.SelectorFromSet(p.Label.Selector).Matches(labels.Set(peer.GetLabels())) {
			return true
		}
	}
	return false
}

func requestsFor(nodes []v1alpha1.SeiNode) []reconcile.Request {
	found := make([]reconcile.Request, 0, len(nodes))
	for i := range nodes {
		found = append(found, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&nodes[i])})
	}
	return found
}
