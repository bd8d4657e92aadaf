package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every type in this package.
var GroupVersion = schema.GroupVersion{Group: "sei.io", Version: "v1alpha1"}

// The kinds of this group.
const (
	KindSeiNode           = "SeiNode"
	KindSeiNodeDeployment = "SeiNodeDeployment"
	KindSeiNodeTask       = "SeiNodeTask"
)

// SchemeBuilder collects the functions that add this group to a scheme.
var SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme adds the types of this group to a scheme.
var AddToScheme = SchemeBuilder.AddToScheme

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&SeiNode{}, &SeiNodeList{},
		&SeiNodeDeployment{}, &SeiNodeDeploymentList{},
		&SeiNodeTask{}, &SeiNodeTaskList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
