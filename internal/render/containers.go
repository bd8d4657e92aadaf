package render

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sei-operator/sei-operator/internal/seid"
)

// Names of the containers.
const (
	ContainerInstall  = "install"
	ContainerSeidInit = "seid-init"
	ContainerSidecar  = "sidecar"
	ContainerSeid     = "seid"
)

// portNameSidecar is the sidecar's port in pods and Services.
const portNameSidecar = "sidecar"

// The sidecar's binary: in its own image, and where install puts it.
const (
	sidecarProgram = "sidecar"
	sidecarInImage = "/" + sidecarProgram
	sidecarBinary  = installDir + "/" + sidecarProgram
)

// installContainer copies the sidecar's binary out of its image, so that the
// other containers can run it beside the very seid they serve.
func (p pod) installContainer() *corev1ac.ContainerApplyConfiguration {
	return container(ContainerInstall, p.sidecarImage(), p.sidecarResources()).
		WithCommand(sidecarInImage, "install", installDir).
		WithVolumeMounts(mount(volumeBin, installDir))
}

// initContainer runs `seid init` on an empty home.
func (p pod) initContainer() *corev1ac.ContainerApplyConfiguration {
	return container(ContainerSeidInit, p.chainImage, p.seidResources()).
		WithCommand(sidecarBinary, "init").
		WithEnv(p.initEnv()...).
		WithVolumeMounts(homeMounts(volumeHome, volumeTmp)...)
}

// sidecarContainer is a native sidecar: it runs before seid starts and after it
// has ended.
func (p pod) sidecarContainer() *corev1ac.ContainerApplyConfiguration {
	port := SidecarPort(p.Node)
	return container(ContainerSidecar, p.chainImage, p.sidecarResources()).
		WithRestartPolicy(corev1.ContainerRestartPolicyAlways).
		WithCommand(sidecarBinary, "serve").
		WithEnv(p.sidecarEnv()...).
		WithPorts(containerPort(portNameSidecar, port)).
		WithStartupProbe(sidecarStartup(p.Node)).
		WithLivenessProbe(sidecarLiveness(p.Node)).
		// What seid can write to, the sidecar's programs must not take settings from.
		WithVolumeMounts(homeMounts(volumeSidecarHome, volumeSidecarTmp)...).
		WithVolumeMounts(mount(volumeToken, tokenDir).WithReadOnly(true)).
		WithVolumeMounts(p.certificateMounts()...).
		WithVolumeMounts(p.sidecarKeyMounts()...)
}

// seidContainer waits at the gate, which then runs seid.
func (p pod) seidContainer() *corev1ac.ContainerApplyConfiguration {
	c := container(ContainerSeid, p.chainImage, p.seidResources()).
		WithCommand(p.gateCommand()...).
		WithEnv(p.gateEnv()...).
		WithEnv(extraEnv(p.Node)...).
		WithVolumeMounts(homeMounts(volumeHome, volumeTmp)...).
		WithVolumeMounts(p.hide()...).
		WithVolumeMounts(p.seidKeyMounts()...).
		WithVolumeMounts(extraMounts(p.Node)...)
	for _, port := range seid.Ports(modeOf(p.Node)) {
		ac := containerPort(port.Name, port.Number)
		if port.Name == seid.PortNameP2P && p.Node.Spec.P2PHostPort != 0 {
			ac.WithHostPort(p.Node.Spec.P2PHostPort)
		}
		c.WithPorts(ac)
	}
	return c
}

func (p pod) gateCommand() []string {
	command := append([]string{sidecarBinary, "gate"}, p.gateFlags...)
	command = append(command, "--", seid.BinaryName, "start", "--home", string(seidHome))
	return append(command, p.seidFlags...)
}

func container(name, image string, resources corev1.ResourceRequirements) *corev1ac.ContainerApplyConfiguration {
	c := corev1ac.Container().WithName(name).WithImage(image).WithSecurityContext(containerSecurity())
	if len(resources.Requests) > 0 || len(resources.Limits) > 0 {
		c.WithResources(resourceRequirements(resources))
	}
	return c
}

// resourceRequirements copies: what is rendered may be edited, the operator's
// configuration must not be.
func resourceRequirements(r corev1.ResourceRequirements) *corev1ac.ResourceRequirementsApplyConfiguration {
	ac := corev1ac.ResourceRequirements()
	if len(r.Requests) > 0 {
		ac.WithRequests(maps.Clone(r.Requests))
	}
	if len(r.Limits) > 0 {
		ac.WithLimits(maps.Clone(r.Limits))
	}
	return ac
}

func containerPort(name string, number int32) *corev1ac.ContainerPortApplyConfiguration {
	return corev1ac.ContainerPort().WithName(name).WithContainerPort(number).WithProtocol(corev1.ProtocolTCP)
}

// SeidImage is the image of the seid container of a pod; empty if it has none.
func SeidImage(spec corev1.PodSpec) string { return imageOf(spec.Containers, ContainerSeid) }

// SidecarImage is the image a pod's sidecar was installed from; empty if none.
func SidecarImage(spec corev1.PodSpec) string { return imageOf(spec.InitContainers, ContainerInstall) }

// NodeUID is the UID of the node that a pod's sidecar serves, as the pod tells it; empty in pods of
// older operators.
func NodeUID(spec corev1.PodSpec) string { return sidecarVariable(spec, EnvNodeUID) }

// ServesTLS reports whether a pod's sidecar was given a certificate: it is called over TLS then, and in
// no other way.
func ServesTLS(spec corev1.PodSpec) bool { return sidecarVariable(spec, EnvTLSDir) != "" }

func sidecarVariable(spec corev1.PodSpec, name string) string {
	for i := range spec.InitContainers {
		if spec.InitContainers[i].Name != ContainerSidecar {
			continue
		}
		for _, v := range spec.InitContainers[i].Env {
			if v.Name == name {
				return v.Value
			}
		}
	}
	return ""
}

func imageOf(containers []corev1.Container, name string) string {
	for i := range containers {
		if containers[i].Name == name {
			return containers[i].Image
		}
	}
	return ""
}
