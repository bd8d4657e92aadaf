package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sei-operator/sei-operator/internal/sidecar/api"
	"github.com/sei-operator/sei-operator/internal/sidecar/homeinit"
	"github.com/sei-operator/sei-operator/internal/sidecar/server/auth"
)

// The environment variables of the sidecar.
const (
	envHome            = "SEI_HOME"
	envPort            = "SEI_SIDECAR_PORT"
	envBind            = "SEI_SIDECAR_BIND_ADDRESS"
	envChainID         = "SEI_CHAIN_ID"
	envSeid            = "SEI_SEID_BINARY"
	envGenesisBucket   = "SEI_GENESIS_BUCKET"
	envSnapshotBucket  = "SEI_SNAPSHOT_BUCKET"
	envUploadInterval  = "SEI_SNAPSHOT_UPLOAD_INTERVAL"
	envUploadTimeout   = "SEI_SNAPSHOT_UPLOAD_TIMEOUT"
	envAuthMode        = "SEI_SIDECAR_AUTHN_MODE"
	envSubjects        = "SEI_SIDECAR_ALLOWED_SUBJECTS"
	envAPIServer       = "SEI_SIDECAR_APISERVER_URL"
	envAPIToken        = "SEI_SIDECAR_APISERVER_TOKEN_FILE" //nolint:gosec // the name of a variable
	envAPICA           = "SEI_SIDECAR_APISERVER_CA_FILE"
	envNodeNamespace   = "SEI_NODE_NAMESPACE"
	envNodeName        = "SEI_NODE_NAME"
	envNodeUID         = "SEI_NODE_UID"
	envTLSDir          = "SEI_SIDECAR_TLS_DIR"
	envPodUID          = "SEI_POD_UID"
	envTemplateHash    = "SEI_POD_TEMPLATE_HASH"
	envKeyringBackend  = "SEI_KEYRING_BACKEND"
	envKeyringDir      = "SEI_KEYRING_DIR"
	envKeyringPassword = "SEI_KEYRING_PASSPHRASE"      //nolint:gosec // the name of a variable
	envPassphraseFile  = "SEI_KEYRING_PASSPHRASE_FILE" //nolint:gosec // the name of a variable
	envPrivateDir      = "SEI_SIDECAR_PRIVATE_DIR"
	envInCluster       = "KUBERNETES_SERVICE_HOST"
)

const (
	defaultHome           = "/sei"
	defaultSeid           = "seid"
	defaultUploadInterval = 168 * time.Hour
	defaultUploadTimeout  = 2 * time.Hour
)

// The ways to authenticate a caller.
const (
	modeKubernetes      = "kubernetes"
	modeTrustedHeader   = "trusted-header"
	modeUnauthenticated = "unauthenticated"
)

// settings are read from the environment, validated, with defaults filled in.
type settings struct {
	Home           string
	ChainID        string
	Seid           string
	Listen         string
	GenesisBucket  string
	SnapshotBucket string
	UploadInterval time.Duration
	UploadTimeout  time.Duration

	AuthMode string
	Subjects []string
	// Audience is the audience of the tokens that this sidecar accepts.
	Audience  string
	APIServer string
	APIToken  string
	APICA     string
	Node      string
	// NodeUID is the UID of the node's object; empty in pods of older operators.
	NodeUID string
	PodUID  string
	// TLSDir holds the sidecar's certificate and its key; empty if it has none.
	TLSDir string
	// TemplateHash is the hash of the pod's template; empty if it is unknown.
	TemplateHash string

	// PrivateDir is a directory that seid's container does not mount; empty in
	// pods of older operators.
	PrivateDir string

	KeyringBackend string
	KeyringDir     string
	// KeyringPassphraseFile holds the passphrase; pods of older operators have
	// it in the environment.
	KeyringPassphraseFile string
	KeyringPassphrase     string
}

// environment reads variables and collects their errors, so that a user sees
// all mistakes at once.
type environment struct {
	lookup func(string) (string, bool)
	wrong  []error
}

func (e *environment) get(name string) string {
	value, _ := e.lookup(name)
	return strings.TrimSpace(value)
}

func (e *environment) rejectf(name, format string, args ...any) {
	e.wrong = append(e.wrong, fmt.Errorf("%s: %s", name, fmt.Sprintf(format, args...)))
}

func (e *environment) required(name, why string) string {
	value := e.get(name)
	if value == "" {
		e.wrong = append(e.wrong, fmt.Errorf("required environment variable %s is not set%s", name, why))
	}
	return value
}

func (e *environment) duration(name string, fallback time.Duration) time.Duration {
	raw := e.get(name)
	if raw == "" {
		return fallback
	}
	d, err := time.ParseDuration(raw)
	if err != nil || d <= 0 {
		e.rejectf(name, "%q is no duration such as 2h", raw)
	}
	return d
}

func (e *environment) choice(name, value string, allowed ...string) string {
	if !slices.Contains(allowed, value) {
		e.rejectf(name, "%q is none of %s", value, strings.Join(allowed, ", "))
	}
	return value
}

// bucket reads a bucket, given either as a URL or as the name and region of an
// S3 bucket.
func (e *environment) bucket(prefix string) string {
	name, address := e.get(prefix), e.get(prefix+"_URL")
	region := e.get(strings.TrimSuffix(prefix, "_BUCKET") + "_REGION")
	switch {
	case address != "" && name != "":
		e.rejectf(prefix+"_URL", "set either this or %s, not both", prefix)
	case address != "":
		if u, err := url.Parse(address); err != nil || u.Scheme == "" {
			e.rejectf(prefix+"_URL", "%q is no bucket address such as s3://name or gs://name", address)
		}
	case name != "":
		u := url.URL{Scheme: "s3", Host: name}
		if region != "" {
			u.RawQuery = url.Values{"region": {region}}.Encode()
		}
		return u.String()
	}
	return address
}

func readSettings(lookup func(string) (string, bool), home string, port int) (settings, error) {
	env := &environment{lookup: lookup}
	s := settings{
		Home:           home,
		ChainID:        env.required(envChainID, ""),
		Seid:           cmp.Or(env.get(envSeid), defaultSeid),
		GenesisBucket:  env.bucket(envGenesisBucket),
		SnapshotBucket: env.bucket(envSnapshotBucket),
		UploadInterval: env.duration(envUploadInterval, defaultUploadInterval),
		UploadTimeout:  env.duration(envUploadTimeout, defaultUploadTimeout),
		PrivateDir:     env.get(envPrivateDir),
	}
	s.readAuth(env, port)
	s.readKeyring(env)
	if len(env.wrong) > 0 {
		return settings{}, errors.Join(env.wrong...)
	}
	return s, nil
}

func (s *settings) readAuth(env *environment, port int) {
	mode := strings.ToLower(env.get(envAuthMode))
	if mode == "" {
		mode = modeUnauthenticated
		if env.get(envInCluster) != "" {
			mode = modeKubernetes
		}
	}
	s.AuthMode = env.choice(envAuthMode, mode, modeKubernetes, modeTrustedHeader, modeUnauthenticated)
	bind := env.get(envBind)
	if s.AuthMode != modeKubernetes {
		bind = cmp.Or(bind, "127.0.0.1")
		if !isLoopback(bind) {
			env.rejectf(envBind, "%q is not a loopback address, which %s=%s asks for", bind, envAuthMode, s.AuthMode)
		}
	}
	s.Listen = net.JoinHostPort(bind, strconv.Itoa(port))

	if namespace, name := env.get(envNodeNamespace), env.get(envNodeName); namespace != "" && name != "" {
		s.Node = namespace + "/" + name
	}
	s.NodeUID, s.PodUID = env.get(envNodeUID), env.get(envPodUID)
	s.TLSDir = env.get(envTLSDir)
	s.TemplateHash = env.get(envTemplateHash)
	if s.AuthMode == modeKubernetes {
		s.readKubernetes(env)
	}
}

func (s *settings) readKubernetes(env *environment) {
	why := fmt.Sprintf(" (%s=%s needs it)", envAuthMode, modeKubernetes)
	for subject := range strings.SplitSeq(env.required(envSubjects, why), ",") {
		if subject = strings.TrimSpace(subject); subject == "" {
			continue
		}
		if !strings.HasPrefix(subject, "system:serviceaccount:") || strings.Count(subject, ":") != 3 {
			env.rejectf(envSubjects, "%q does not have the form system:serviceaccount:NAMESPACE:NAME", subject)
		}
		s.Subjects = append(s.Subjects, subject)
	}
	namespace, name := env.required(envNodeNamespace, why), env.required(envNodeName, why)
	env.required(envPodUID, why)
	// A pod of an older operator does not have the UID, and that operator knows
	// no other audience.
	s.Audience = api.TokenAudience
	if s.NodeUID != "" {
		s.Audience = api.NodeAudience(namespace, name, s.NodeUID)
	}
	s.APIServer = cmp.Or(env.get(envAPIServer), auth.DefaultAPIServer)
	s.APIToken = cmp.Or(env.get(envAPIToken), auth.DefaultTokenFile)
	s.APICA = cmp.Or(env.get(envAPICA), auth.DefaultCAFile)
	if u, err := url.Parse(s.APIServer); err != nil || u.Scheme != "https" || u.Host == "" {
		env.rejectf(envAPIServer, "%q is no https address", s.APIServer)
	}
}

func (s *settings) readKeyring(env *environment) {
	s.KeyringBackend = env.get(envKeyringBackend)
	if s.KeyringBackend == "" {
		return
	}
	env.choice(envKeyringBackend, s.KeyringBackend, homeinit.KeyringBackends...)
	s.KeyringDir = env.get(envKeyringDir)
	if s.KeyringBackend != "file" {
		return
	}
	if s.KeyringPassphraseFile = env.get(envPassphraseFile); s.KeyringPassphraseFile == "" {
		s.KeyringPassphrase = env.required(envKeyringPassword, fmt.Sprintf(" (%s=file needs it, or %s)", envKeyringBackend, envPassphraseFile))
	}
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.IsLoopback()
}

func addPortFlag(cmd *cobra.Command, port *int) {
	cmd.Flags().IntVar(port, "port", api.DefaultPort, "the sidecar's port ($"+envPort+")")
}

// portFromEnv reads the port from the environment unless the flag was given.
func portFromEnv(cmd *cobra.Command, port *int, lookup func(string) (string, bool)) error {
	raw, _ := lookup(envPort)
	if raw = strings.TrimSpace(raw); raw != "" && !cmd.Flags().Changed("port") {
		n, err := strconv.Atoi(raw)
		if err != nil {
			return fmt.Errorf("%s: %q is not a port number", envPort, raw)
		}
		*port = n
	}
	if *port < 0 || *port > 65535 {
		return fmt.Errorf("%s: %d is not a port number", envPort, *port)
	}
	return nil
}
