package api_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sei-operator/sei-operator/internal/render"
)

// extraRules are about what is added to seid's container.
func extraRules() []rule {
	return slices.Concat(extraEnvRules(), extraVolumeRules(), extraMountRules(), extraKeyRules(), extraNameRules())
}

// extra are full nodes with values of a field, each a YAML list.
func extra(field string, lists ...string) []attempt {
	attempts := make([]attempt, 0, len(lists))
	for _, list := range lists {
		attempts = append(attempts, attempt{spec: node(full, field+": ["+list+"]")})
	}
	return attempts
}

// each writes every text into a format.
func each(format string, texts ...string) []string {
	written := make([]string, 0, len(texts))
	for _, text := range texts {
		written = append(written, fmt.Sprintf(format, text))
	}
	return written
}

func extraEnvRules() []rule {
	taken := slices.Clone(render.ReservedVariables)
	for _, prefix := range render.ReservedPrefixes {
		taken = append(taken, prefix, prefix+"X")
	}
	taken = append(taken, "SEI_HOME", "SEID_MODE", "SEIDMODE", "SEID_PRIV_VALIDATOR_LADDR", "LD_PRELOAD")
	const ref = "valueFrom: {secretKeyRef: {name: a, key: b}}"
	return []rule{
		{
			kind: "SeiNode", path: "spec.extraEnv", message: "extraEnv has a variable twice",
			accepted: extra("extraEnv", "", "{name: A}", "{name: A, value: x}, {name: B, value: x}"),
			rejected: extra("extraEnv", "{name: A}, {name: A}", "{name: A, value: x}, {name: B}, {name: A, "+ref+"}"),
		},
		{
			kind: "SeiNode", path: "spec.extraEnv[]", message: "a variable of extraEnv has both value and valueFrom",
			accepted: extra("extraEnv", "{name: A, value: x}", "{name: A, "+ref+"}", "{name: A}"),
			rejected: extra("extraEnv", "{name: A, value: x, "+ref+"}"),
		},
		{
			kind: "SeiNode", path: "spec.extraEnv[].name", message: "this is not the name of a variable",
			accepted: extra("extraEnv", each("{name: %s}", "A", "_a1", "http_proxy")...),
			rejected: extra("extraEnv", each("{name: %q}", "1A", "A-B", "A.B", "A B", "Ä", "A=B", "A\n")...),
		},
		{
			kind: "SeiNode", path: "spec.extraEnv[].name", message: "extraEnv cannot set this variable",
			accepted: extra("extraEnv", each("{name: %s, value: x}", "GOMEMLIMIT", "HTTPS_PROXY", "MY_HOME", "HOME_DIR", "OLD_X")...),
			rejected: extra("extraEnv", each("{name: %s, value: x}", taken...)...),
		},
		{
			kind: "SeiNode", path: "spec.extraEnv[].valueFrom", message: "set exactly one of secretKeyRef and configMapKeyRef",
			accepted: extra("extraEnv", each("{name: A, valueFrom: {%s: {name: a, key: b}}}", "secretKeyRef", "configMapKeyRef")...),
			rejected: extra("extraEnv", each("{name: A, valueFrom: {%s}}", "", "secretKeyRef: {name: a, key: b}, configMapKeyRef: {name: a, key: b}")...),
		},
	}
}

func extraVolumeRules() []rule {
	return []rule{
		{
			kind: "SeiNode", path: "spec.extraVolumes", message: "extraVolumes has a name twice",
			accepted: extra("extraVolumes", "", "{name: a, emptyDir: {}}, {name: b, emptyDir: {}}"),
			rejected: extra("extraVolumes", "{name: a, emptyDir: {}}, {name: a, configMap: {name: x}}"),
		},
		{
			kind: "SeiNode", path: "spec.extraVolumes[]", message: "a volume of extraVolumes needs exactly one of",
			accepted: extra("extraVolumes", each("{name: a, %s}", "emptyDir: {medium: Memory, sizeLimit: 1Gi}", "configMap: {name: x}", "secret: {secretName: x}",
				"projected: {sources: [{secret: {name: x}}, {configMap: {name: z, items: [{key: a, path: b}]}}]}", "csi: {driver: a.example.com}")...),
			rejected: extra("extraVolumes", "{name: a}", "{name: a, emptyDir: {}, secret: {secretName: x}}", "{name: a, configMap: {name: x}, csi: {driver: x}}"),
		},
		{
			kind: "SeiNode", path: "spec.extraVolumes[].name", message: "this is not the name of a volume",
			accepted: extra("extraVolumes", each("{name: %s, emptyDir: {}}", "a", "extra-ca", strings.Repeat("a", 57))...),
			rejected: extra("extraVolumes", each("{name: %q, emptyDir: {}}", "A", "a.b", "-a", "a b")...),
		},
		{
			kind: "SeiNode", path: "spec.extraVolumes[].projected.sources[]", message: "a source of projected needs exactly one of configMap and secret",
			accepted: extra("extraVolumes", "{name: a, projected: {sources: [{secret: {name: x}}, {configMap: {name: x}}]}}"),
			rejected: extra("extraVolumes", each("{name: a, projected: {sources: [{%s}]}}", "", "secret: {name: x}, configMap: {name: x}")...),
		},
		{
			kind: "SeiNode", path: "spec.extraVolumes[].csi.driver", message: "this is not the name of a CSI driver",
			accepted: extra("extraVolumes", each("{name: a, csi: {driver: %s}}", "secrets-store.csi.k8s.io", "Example.com")...),
			rejected: extra("extraVolumes", each("{name: a, csi: {driver: %q}}", "a b", "-a", "a/b")...),
		},
	}
}

func extraMountRules() []rule {
	mounts := func(list ...string) []attempt {
		attempts := make([]attempt, 0, len(list))
		for _, m := range list {
			attempts = append(attempts, attempt{spec: node(full, "extraVolumes: [{name: a, emptyDir: {}}]", "extraVolumeMounts: ["+m+"]")})
		}
		return attempts
	}
	return []rule{
		{
			kind: "SeiNode", path: "spec", message: "extraVolumeMounts names a volume that extraVolumes does not have",
			accepted: mounts("", "{name: a, mountPath: /mnt/a}", "{name: a, mountPath: /mnt/a}, {name: a, mountPath: /mnt/b}"),
			rejected: slices.Concat(mounts("{name: b, mountPath: /mnt/a}", "{name: a, mountPath: /mnt/a}, {name: extra-a, mountPath: /mnt/b}"),
				extra("extraVolumeMounts", "{name: data, mountPath: /mnt/a}")),
		},
		{
			kind: "SeiNode", path: "spec.extraVolumeMounts", message: "extraVolumeMounts has a mountPath twice",
			accepted: mounts("{name: a, mountPath: /mnt/a}, {name: a, mountPath: /mnt/a/b}"),
			rejected: mounts("{name: a, mountPath: /mnt/a}, {name: a, mountPath: /mnt/a, subPath: x}"),
		},
		{
			kind: "SeiNode", path: "spec.extraVolumeMounts[].mountPath", message: "mountPath must be below /mnt or /etc/ssl/certs",
			accepted: mounts(each("{name: a, mountPath: %s}", "/mnt/a", "/mnt/a-b_c.d/E", "/etc/ssl/certs/extra.pem")...),
			rejected: mounts(each("{name: a, mountPath: %q}", "/", "/mnt", "/mnt/", "/mnt/a/", "/mnt//a", "/mnt/..", "/mnt/a/../../home", "/mnt/.a",
				"mnt/a", "/mntx", "/home/nonroot", "/home/nonroot/.sei/config/priv_validator_key.json", "/opt/sei", "/tmp", "/etc/ssl", "/etc/ssl/certs",
				"/usr/bin", "/etc/ld.so.preload", "/var/run/secrets/kubernetes.io/serviceaccount", "/etc/sei/keyring-passphrase", "/mnt/a\n")...),
		},
		pathRule("spec.extraVolumeMounts[].subPath", func(path string) string {
			return node(full, "extraVolumes: [{name: a, emptyDir: {}}]", fmt.Sprintf("extraVolumeMounts: [{name: a, mountPath: /mnt/a, subPath: %q}]", path))
		}),
		pathRule("spec.extraVolumes[].configMap.items[].path", inVolume("configMap: {name: x, items: [{key: a, path: %q}]}")),
		pathRule("spec.extraVolumes[].secret.items[].path", inVolume("secret: {secretName: x, items: [{key: a, path: %q}]}")),
		pathRule("spec.extraVolumes[].projected.sources[].configMap.items[].path", inVolume("projected: {sources: [{configMap: {name: x, items: [{key: a, path: %q}]}}]}")),
		pathRule("spec.extraVolumes[].projected.sources[].secret.items[].path", inVolume("projected: {sources: [{secret: {name: x, items: [{key: a, path: %q}]}}]}")),
	}
}

// inVolume is a node with one extra volume, whose source has a text in it.
func inVolume(source string) func(string) string {
	return func(text string) string {
		return node(full, "extraVolumes: [{name: a, "+fmt.Sprintf(source, text)+"}]")
	}
}

func inVariable(source string) func(string) string {
	return func(text string) string {
		return node(full, "extraEnv: [{name: A, valueFrom: {"+fmt.Sprintf(source, text)+"}}]")
	}
}

// judged is a rule about one text.
func judged(path, message string, with func(string) string, accepted, rejected []string) rule {
	r := rule{kind: "SeiNode", path: path, message: message}
	for _, text := range accepted {
		r.accepted = append(r.accepted, attempt{spec: with(text)})
	}
	for _, text := range rejected {
		r.rejected = append(r.rejected, attempt{spec: with(text)})
	}
	return r
}

func pathRule(path string, with func(string) string) rule {
	return judged(path, "this is not a path in a volume", with, []string{"a", "a/b", ".a/b.c"}, []string{"/a", "a/", "a//b", "..", "../a", "a/../b", "a/.."})
}

// extraNameRules are about the names of Secrets and ConfigMaps, and their keys.
func extraNameRules() []rule {
	var rules []rule
	for path, with := range map[string]func(string) string{
		"spec.extraEnv[].valueFrom.secretKeyRef.name":            inVariable("secretKeyRef: {name: %q, key: a}"),
		"spec.extraVolumes[].secret.secretName":                  inVolume("secret: {secretName: %q}"),
		"spec.extraVolumes[].projected.sources[].secret.name":    inVolume("projected: {sources: [{secret: {name: %q}}]}"),
		"spec.extraEnv[].valueFrom.configMapKeyRef.name":         inVariable("configMapKeyRef: {name: %q, key: a}"),
		"spec.extraVolumes[].configMap.name":                     inVolume("configMap: {name: %q}"),
		"spec.extraVolumes[].projected.sources[].configMap.name": inVolume("projected: {sources: [{configMap: {name: %q}}]}"),
	} {
		what := "ConfigMap"
		if strings.Contains(path, "secret") {
			what = "Secret"
			rules = append(rules, judged(path, "Secrets that end in -sidecar-tls", with, []string{"a-tls"}, []string{"rpc-0-sidecar-tls"}))
		}
		rules = append(rules, judged(path, "this is not the name of a "+what, with, []string{"a.b-1"}, []string{"A", "a/b", "a b", "-a", "a-$(ORDINAL)"}))
	}
	for path, with := range map[string]func(string) string{
		"spec.extraEnv[].valueFrom.secretKeyRef.key":                    inVariable("secretKeyRef: {name: a, key: %q}"),
		"spec.extraEnv[].valueFrom.configMapKeyRef.key":                 inVariable("configMapKeyRef: {name: a, key: %q}"),
		"spec.extraVolumes[].secret.items[].key":                        inVolume("secret: {secretName: a, items: [{key: %q, path: a}]}"),
		"spec.extraVolumes[].configMap.items[].key":                     inVolume("configMap: {name: a, items: [{key: %q, path: a}]}"),
		"spec.extraVolumes[].projected.sources[].secret.items[].key":    inVolume("projected: {sources: [{secret: {name: a, items: [{key: %q, path: a}]}}]}"),
		"spec.extraVolumes[].projected.sources[].configMap.items[].key": inVolume("projected: {sources: [{configMap: {name: a, items: [{key: %q, path: a}]}}]}"),
	} {
		rules = append(rules, judged(path, "this is not a key of a Secret or ConfigMap", with, []string{"ca.crt", "A_b-c"}, []string{"a/b", "a b", "..", "."}))
	}
	return rules
}

// extraKeyRules keep the keys of the node where they are.
func extraKeyRules() []rule {
	of := func(mode string, lines ...string) []attempt {
		attempts := make([]attempt, 0, len(lines))
		for _, line := range lines {
			attempts = append(attempts, attempt{spec: node(mode, line)})
		}
		return attempts
	}
	env := func(names ...string) []string {
		return each("extraEnv: [{name: B}, {name: A, valueFrom: {secretKeyRef: {name: %s, key: a}}}]", names...)
	}
	volumes := func(names ...string) []string {
		return slices.Concat(each("extraVolumes: [{name: b, emptyDir: {}}, {name: a, secret: {secretName: %s}}]", names...),
			each("extraVolumes: [{name: a, projected: {sources: [{configMap: {name: id}}, {secret: {name: %s}}]}}]", names...))
	}
	return []rule{
		{
			kind: "SeiNode", path: "spec", message: "extraEnv takes a value from a Secret with a key or passphrase of the node",
			accepted: slices.Concat(of(withRing, env("other")...), of(full, env("id")...)),
			rejected: slices.Concat(of(withRing, env("sign", "id", "ring", "pass")...), of(seed, env("id")...)),
		},
		{
			kind: "SeiNode", path: "spec", message: "extraVolumes has a Secret with a key or passphrase of the node",
			accepted: slices.Concat(of(withRing, volumes("other")...), of(full, volumes("id")...)),
			rejected: slices.Concat(of(withRing, volumes("sign", "id", "ring", "pass")...), of(seed, volumes("id")...)),
		},
	}
}
