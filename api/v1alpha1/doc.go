// Package v1alpha1 holds the API of the operator: SeiNode, SeiNodeDeployment and
// SeiNodeTask in group sei.io, with the condition types, reasons and labels that
// users see. Types, constants and small accessors only: rules that admission can
// check are markers on the fields, everything else belongs to the controllers.
//
// +kubebuilder:object:generate=true
// +groupName=sei.io
package v1alpha1
