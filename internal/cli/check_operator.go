package cli

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/sei-operator/sei-operator/config/rbac"
)

func checkOperator(_ context.Context, c *checkup) []checkResult {
	if c.operator == nil {
		return failed("no Deployment with label %s=%s was found: install the operator, or name its namespace with --operator-namespace",
			operatorLabel, operatorName)
	}
	d := c.operator.deployment
	where := d.Namespace + "/" + d.Name
	wanted := int32(1)
	if d.Spec.Replicas != nil {
		wanted = *d.Spec.Replicas
	}
	switch ready := d.Status.ReadyReplicas; {
	case ready == 0:
		return failed("%s (%s) has no pod that is ready: kubectl -n %s logs deploy/%s", where, c.operator.image(), d.Namespace, d.Name)
	case ready < wanted:
		return warned("%s (%s) has %d of %d pods ready", where, c.operator.image(), ready, wanted)
	default:
		return passed("%s (%s) has %d of %d pods ready", where, c.operator.image(), min(ready, wanted), wanted)
	}
}

// checkOperatorPermissions asks for every right of the roles of this version whether the operator
// has it.
func checkOperatorPermissions(ctx context.Context, c *checkup) []checkResult {
	if c.operator == nil {
		return unseen("there is no operator to ask for")
	}
	roles, err := operatorRoles()
	if err != nil {
		return unseen("%v", err)
	}
	var missing []string
	asked := 0
	for _, attributes := range rights(roles, c.operator) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: c.operator.account(), Groups: []string{"system:serviceaccounts", "system:authenticated"}, ResourceAttributes: &attributes,
		}}
		answer, err := c.Kubernetes.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if apierrors.IsForbidden(err) {
			return unseen("you may not create subjectaccessreviews, so it is unknown what %s may do", c.operator.account())
		}
		if err != nil {
			return unseen("checking what %s may do: %v", c.operator.account(), err)
		}
		asked++
		if !answer.Status.Allowed {
			missing = append(missing, rightName(&attributes))
		}
	}
	if len(missing) > 0 {
		return failed("%s may not: %s. Apply the roles of the operator's version", c.operator.account(), strings.Join(missing, "; "))
	}
	return passed("%s has all %d rights of this version's roles", c.operator.account(), asked)
}

// operatorRoles are the rules for the cluster and for the operator's own namespace.
func operatorRoles() ([]rbacv1.Role, error) {
	var roles []rbacv1.Role
	for text := range strings.SplitSeq(string(rbac.Role), "\n---\n") {
		var role rbacv1.Role
		if err := yaml.Unmarshal([]byte(text), &role); err != nil {
			return nil, fmt.Errorf("parsing the roles of this version: %w", err)
		}
		roles = append(roles, role)
	}
	return roles, nil
}

// rights lists every right of the roles. An operator of some namespaces has those of the ClusterRole
// there and not in the whole cluster, so its namespaces are asked for.
func rights(roles []rbacv1.Role, o *installedOperator) []authorizationv1.ResourceAttributes {
	var all []authorizationv1.ResourceAttributes
	for _, role := range roles {
		namespaces := o.watched()
		if role.Kind == "Role" {
			namespaces = []string{o.deployment.Namespace}
		}
		for _, rule := range role.Rules {
			for _, namespace := range namespaces {
				all = append(all, rightsOf(rule, namespace)...)
			}
		}
	}
	return all
}

func rightsOf(rule rbacv1.PolicyRule, namespace string) []authorizationv1.ResourceAttributes {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	all := make([]authorizationv1.ResourceAttributes, 0, len(rule.APIGroups)*len(rule.Resources)*len(rule.Verbs)*len(names))
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			resource, subresource, _ := strings.Cut(resource, "/")
			for _, verb := range rule.Verbs {
				for _, name := range names {
					all = append(all, authorizationv1.ResourceAttributes{
						Namespace: namespace, Group: group, Resource: resource, Subresource: subresource, Verb: verb, Name: name,
					})
				}
			}
		}
	}
	return all
}

// watched are the namespaces of --watch-namespace; one empty name for all.
func (o *installedOperator) watched() []string {
	var watched []string
	for _, c := range o.deployment.Spec.Template.Spec.Containers {
		for _, arg := range c.Args {
			if names, ok := strings.CutPrefix(arg, "--watch-namespace="); ok && names != "" {
				watched = append(watched, strings.Split(names, ",")...)
			}
		}
	}
	if len(watched) == 0 {
		return []string{""}
	}
	return watched
}

func rightName(a *authorizationv1.ResourceAttributes) string {
	name := a.Verb + " " + a.Resource
	if a.Group != "" {
		name += "." + a.Group
	}
	if a.Subresource != "" {
		name += "/" + a.Subresource
	}
	if a.Name != "" {
		name += " " + a.Name
	}
	if a.Namespace != "" {
		name += " in " + a.Namespace
	}
	return name
}

// ownRights are what the commands of the plugin need of a user.
func ownRights(namespace string) []authorizationv1.ResourceAttributes {
	in := func(group, resource, subresource, verb string) authorizationv1.ResourceAttributes {
		return authorizationv1.ResourceAttributes{Namespace: namespace, Group: group, Resource: resource, Subresource: subresource, Verb: verb}
	}
	return []authorizationv1.ResourceAttributes{
		in("sei.io", "seinodes", "", "list"), in("sei.io", "seinodedeployments", "", "list"), in("sei.io", "seinodetasks", "", "list"),
		in("sei.io", "seinodes", "", "patch"), in("sei.io", "seinodedeployments", "", "patch"), in("sei.io", "seinodetasks", "", "create"),
		in("", "pods", "", "list"), in("", "pods", "log", "get"), in("", "pods", "proxy", "get"), in("events.k8s.io", "events", "", "list"),
	}
}

func checkOwnPermissions(ctx context.Context, c *checkup) []checkResult {
	var missing []string
	for _, attributes := range ownRights(c.Namespace) {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &attributes}}
		answer, err := c.Kubernetes.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return unseen("checking what you may do: %v", err)
		}
		if !answer.Status.Allowed {
			missing = append(missing, rightName(&attributes))
		}
	}
	if len(missing) > 0 {
		return warned("you may not: %s. Commands that need it will say so", strings.Join(missing, "; "))
	}
	return passed("you have all rights that the commands of this plugin need in namespace %s", c.Namespace)
}
