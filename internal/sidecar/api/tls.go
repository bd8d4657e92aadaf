package api

// ServerName is the name in the certificate by which a sidecar proves that it is the one of a node.
// The UID keeps a certificate from outliving its node. No DNS knows the name: a sidecar is reached
// by its pod's own address.
func ServerName(namespace, name, uid string) string {
	return uid + "." + name + "." + namespace + ".sidecar.sei.io"
}

// The files of a sidecar's certificate, in the folder that the environment names.
const (
	FileCertificate = "tls.crt"
	FileKey         = "tls.key"
)
