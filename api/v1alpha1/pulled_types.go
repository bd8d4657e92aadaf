package v1alpha1

// PulledImage is an image that was pulled before it is needed.
type PulledImage struct {
	// image that was pulled.
	Image string `json:"image"`
	// machine is the Kubernetes node it was pulled on.
	Machine string `json:"machine"`
}
