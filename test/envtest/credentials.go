package envtest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
)

// credentials are the files that let the parts of a control plane trust each
// other.
type credentials struct {
	servingCert, servingKey string
	serviceAccountKey       string
	tokens                  string
	adminToken              string
	ca                      []byte
}

func newCredentials(dir string) (*credentials, error) {
	c := &credentials{
		servingCert:       filepath.Join(dir, "apiserver.crt"),
		servingKey:        filepath.Join(dir, "apiserver.key"),
		serviceAccountKey: filepath.Join(dir, "service-account.key"),
		tokens:            filepath.Join(dir, "tokens.csv"),
	}
	certPEM, keyPEM, err := cert.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, fmt.Errorf("making a serving certificate: %w", err)
	}
	c.ca = certPEM
	signer, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("making a service account key: %w", err)
	}
	signerPEM := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(signer)})
	token := make([]byte, 16)
	if _, err := rand.Read(token); err != nil {
		return nil, fmt.Errorf("making a token: %w", err)
	}
	c.adminToken = hex.EncodeToString(token)
	for path, content := range map[string][]byte{
		c.servingCert:       certPEM,
		c.servingKey:        keyPEM,
		c.serviceAccountKey: signerPEM,
		c.tokens:            []byte(c.adminToken + ",admin,admin,system:masters\n"),
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, fmt.Errorf("writing credentials: %w", err)
		}
	}
	return c, nil
}

// config is an administrator's client configuration without client-side rate
// limits: a test that is slow should be slow for a reason.
func (c *credentials) config(host string) *rest.Config {
	return &rest.Config{
		Host: host, BearerToken: c.adminToken, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.ca},
	}
}

// writeKubeconfig makes a kubeconfig file for programs that want one.
func (c *credentials) writeKubeconfig(path, host string) error {
	k := clientcmdapi.NewConfig()
	k.Clusters["envtest"] = &clientcmdapi.Cluster{Server: host, CertificateAuthorityData: c.ca}
	k.AuthInfos["admin"] = &clientcmdapi.AuthInfo{Token: c.adminToken}
	k.Contexts["envtest"] = &clientcmdapi.Context{Cluster: "envtest", AuthInfo: "admin"}
	k.CurrentContext = "envtest"
	if err := clientcmd.WriteToFile(*k, path); err != nil {
		return fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return nil
}
