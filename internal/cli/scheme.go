package cli

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	seiv1 "github.com/sei-operator/sei-operator/api/v1alpha1"
)

// Scheme knows every type that the commands read. The operator's own scheme would bring the whole
// operator, with the SDKs of its peer sources, into the plugin.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	adders := []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, gatewayv1.Install, seiv1.AddToScheme}
	for _, add := range adders {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building the scheme: %w", err)
		}
	}
	return scheme, nil
}
