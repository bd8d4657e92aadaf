package envtest

// Option changes how a control plane is started.
type Option func(*options)

type options struct {
	controllers           []string
	apiServerArgs         []string
	controllerManagerArgs []string
	crds                  bool
	keepNamespaces        bool
}

func newOptions(opts []Option) *options {
	o := &options{controllers: DefaultControllers, crds: true}
	for _, opt := range opts {
		opt(o)
	}
	return o
}

// WithControllers runs these controllers instead of DefaultControllers.
func WithControllers(names ...string) Option {
	return func(o *options) { o.controllers = names }
}

// WithAPIServerArgs adds flags to kube-apiserver, for example for an audit log.
func WithAPIServerArgs(args ...string) Option {
	return func(o *options) { o.apiServerArgs = append(o.apiServerArgs, args...) }
}

// WithControllerManagerArgs adds flags to kube-controller-manager.
func WithControllerManagerArgs(args ...string) Option {
	return func(o *options) { o.controllerManagerArgs = append(o.controllerManagerArgs, args...) }
}

// WithoutCRDs leaves this project's CRDs out.
func WithoutCRDs() Option {
	return func(o *options) { o.crds = false }
}

// WithKeptNamespaces leaves the namespaces of tests that have ended as they are. To end one costs the API
// server about as much as a short test does, and nothing runs in them any more. It is for many tests that
// look at their own namespace alone.
func WithKeptNamespaces() Option {
	return func(o *options) { o.keepNamespaces = true }
}
