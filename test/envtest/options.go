package envtest

// Option changes how a control plane is started.
type Option func(*options)

type options struct {
	controllers           []string
	apiServerArgs         []string
	controllerManagerArgs []string
	crds                  bool
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
