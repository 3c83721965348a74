// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"
)

// valid returns a configuration as it is after FromEnv outside of a Pod, changed by modify.
func valid(modify ...func(*Config)) Config {
	c := Default("nodepool", "node", "podset")
	c.FromEnv(Environment{
		Getenv:   func(string) string { return "" },
		ReadFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist },
		Hostname: func() (string, error) { return "host", nil },
		Random:   func() string { return "r4nd0m" },
	})
	for _, m := range modify {
		m(&c)
	}
	return c
}

func TestFlags(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		want func(*Config)
	}{
		"no flags leave the defaults": {},
		"arguments of the article's manifest are accepted": {
			args: []string{"--v=2", "--logtostderr=true", "--vm-driver=docker", "--leader-elect=false"},
			want: func(c *Config) { c.Verbosity, c.LeaderElect = 2, false },
		},
		"a short -v works as in Kubernetes": {
			args: []string{"-v", "4"},
			want: func(c *Config) { c.Verbosity = 4 },
		},
		"every flag reaches its field": {
			args: []string{
				"--kubeconfig=k", "--controllers=*,-podset", "--lease-lock-name=l", "--lease-lock-namespace=ns",
				"--holder-identity=me", "--threads=2", "--metrics-bind-address=0", "--health-probe-bind-address=:9",
				"--pprof-bind-address=127.0.0.1:6", "--metrics-secure", "--metrics-cert-dir=/m", "--otlp-endpoint=http://c:4317",
				"--gateway-bind-address=127.0.0.1:7", "--gateway-tls-cert-file=c", "--gateway-tls-private-key-file=p",
				"--gateway-session-file=s", "--gateway-plaintext", "--gateway-requests-per-second=3",
				"--gateway-session-lifetime=3h", "--gateway-session-idle-timeout=2h",
				"--gateway-oidc-issuer-url=https://i", "--gateway-oidc-client-id=c", "--gateway-oidc-client-secret-file=s",
				"--gateway-oidc-redirect-url=https://w/v1/session/oidc/callback", "--gateway-oidc-ca-file=a", "--gateway-prometheus-url=https://p", "--gateway-prometheus-token-file=t", "--gateway-prometheus-ca-file=q",
				"--gateway-oidc-scopes=x,y", "--gateway-connections-per-address=5",
				"--vm-driver=libvirt", "--vm-hosts=h", "--installation=i", "--orphan-policy=delete", "--orphan-grace=1m", "--usage-in-status=off",
				"--vm-sample-period=5s",
				"--allowed-provisioners=rke,exec", "--provisioner-path=rke=/r", "--config-root=/c", "--config-namespaces=a,b", "--state-dir=/s",
				"--max-concurrent-operations=9", "--tool-isolation=required", "--tool-runner=job", "--tool-images=rke=r:1,exec=e",
			},
			want: func(c *Config) {
				c.Machines = Machines{"libvirt", "h", "i", "delete", time.Minute, "off", 5 * time.Second}
				c.Kubeconfig, c.Controllers = "k", []string{"*", "-podset"}
				c.LeaseLockName, c.LeaseLockNamespace, c.HolderIdentity = "l", "ns", "me"
				c.Threads, c.MetricsBindAddress, c.HealthProbeBindAddress = 2, "0", ":9"
				c.PprofBindAddress, c.MetricsSecure, c.MetricsCertDir = "127.0.0.1:6", true, "/m"
				c.OTLPEndpoint = "http://c:4317"
				c.Clusters = Clusters{
					[]string{"rke", "exec"},
					map[string]string{"rke": "/r"},
					"/c",
					[]string{"a", "b"},
					"/s", "required",
					ToolRunnerJob,
					map[string]string{"rke": "r:1", "exec": "e"},
					9,
				}
				c.Gateway = Gateway{
					BindAddress: "127.0.0.1:7", CertFile: "c", KeyFile: "p", Plaintext: true, SessionFile: "s", RequestsPerSecond: 3,
					ConnectionsPerAddress: 5, SessionLifetime: 3 * time.Hour, SessionIdleTimeout: 2 * time.Hour,
					OIDCIssuerURL: "https://i", OIDCClientID: "c", OIDCClientSecretFile: "s", OIDCRedirectURL: "https://w/v1/session/oidc/callback",
					OIDCCAFile: "a", OIDCScopes: []string{"x", "y"}, PrometheusURL: "https://p", PrometheusTokenFile: "t", PrometheusCAFile: "q",
				}
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, want := Default("nodepool"), Default("nodepool")
			fs := pflag.NewFlagSet("", pflag.ContinueOnError)
			got.BindFlags(fs)
			if err := fs.Parse(test.args); err != nil {
				t.Fatal(err)
			}
			if test.want != nil {
				test.want(&want)
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{}, Gateway{})); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheGatewayAloneRunsNoController(t *testing.T) {
	t.Parallel()
	c := valid(func(c *Config) { c.OnlyGateway = true })
	if c.Enabled("nodepool") || c.Enabled("podset") {
		t.Error("controllers are enabled")
	}
}

func TestFromEnv(t *testing.T) {
	t.Parallel()
	type result struct{ Namespace, Identity string }
	tests := map[string]struct {
		flags result
		env   map[string]string
		file  string
		host  error
		want  result
	}{
		"outside of a Pod it is the host and the namespace of the manifests": {
			want: result{"windlass-system", "host_r4nd0m"},
		},
		"a host without a name still gets an identity of its own": {
			host: errors.New("no name"),
			want: result{"windlass-system", "windlass_r4nd0m"},
		},
		"in a Pod it is the Pod and its namespace": {
			env:  map[string]string{"POD_NAME": "windlass-0", "POD_NAMESPACE": "system"},
			file: "other",
			want: result{"system", "windlass-0"},
		},
		"the namespace file is asked when the variable is missing": {
			file: "system\n",
			want: result{"system", "host_r4nd0m"},
		},
		"flags win": {
			flags: result{"mine", "me"},
			env:   map[string]string{"POD_NAME": "windlass-0", "POD_NAMESPACE": "system"},
			want:  result{"mine", "me"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Config{LeaseLockNamespace: test.flags.Namespace, HolderIdentity: test.flags.Identity}
			c.FromEnv(Environment{
				Getenv: func(key string) string { return test.env[key] },
				ReadFile: func(string) ([]byte, error) {
					if test.file == "" {
						return nil, fs.ErrNotExist
					}
					return []byte(test.file), nil
				},
				Hostname: func() (string, error) { return "host", test.host },
				Random:   func() string { return "r4nd0m" },
			})
			if diff := cmp.Diff(test.want, result{c.LeaseLockNamespace, c.HolderIdentity}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestIdentitiesDiffer(t *testing.T) {
	t.Parallel()
	var a, b Config
	a.FromEnv(OS())
	b.FromEnv(OS())
	if a.HolderIdentity == b.HolderIdentity {
		t.Errorf("two instances on one host are both %q", a.HolderIdentity)
	}
}

func TestEnabled(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		controllers []string
		want        []string
	}{
		"a star is all":                     {[]string{"*"}, []string{"nodepool", "node", "podset"}},
		"a name is that one":                {[]string{"podset"}, []string{"podset"}},
		"a star and a minus is all but one": {[]string{"*", "-podset"}, []string{"nodepool", "node"}},
		"the order of both does not matter": {[]string{"-podset", "*"}, []string{"nodepool", "node"}},
		"a minus alone is nothing":          {[]string{"-podset"}, nil},
		"the first mention decides":         {[]string{"podset", "-podset"}, []string{"podset"}},
		"nothing is nothing":                {nil, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := valid(func(c *Config) { c.Controllers = test.controllers })
			var got []string
			for _, known := range c.known {
				if c.Enabled(known) {
					got = append(got, known)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("enabled (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		modify func(*Config)
		want   []string
	}{
		"defaults are valid": {},
		"an unknown controller is refused with the known ones": {
			modify: func(c *Config) { c.Controllers = []string{"*", "-pods"} },
			want:   []string{`--controllers names the unknown controller "-pods": known controllers are nodepool, node, podset, and '*' means all`},
		},
		"no controller at all is refused": {
			modify: func(c *Config) { c.Controllers = []string{"-podset"} },
			want:   []string{`--controllers=-podset leaves no controller to run`},
		},
		"servers that are off need no address": {
			modify: func(c *Config) { c.MetricsBindAddress, c.HealthProbeBindAddress = "0", "0" },
		},
		"any free port may be asked for twice": {
			modify: func(c *Config) { c.MetricsBindAddress, c.HealthProbeBindAddress = "127.0.0.1:0", "127.0.0.1:0" },
		},
		"one address cannot serve both": {
			modify: func(c *Config) { c.MetricsBindAddress = c.HealthProbeBindAddress },
			want:   []string{`are both ":8081": they must differ`},
		},
		"the lease is not looked at without an election": {
			modify: func(c *Config) { c.LeaderElect, c.LeaseLockName, c.HolderIdentity = false, "", "" },
		},
		"plain text needs the loopback address": {
			modify: func(c *Config) { c.Gateway.BindAddress, c.Gateway.Plaintext = ":8090", true },
			want:   []string{`--plaintext would send tokens over the network unencrypted, so it needs a loopback address instead of ":8090"`},
		},
		"plain text needs no certificate": {
			modify: func(c *Config) {
				c.Gateway.BindAddress, c.Gateway.Plaintext, c.Gateway.CertFile, c.Gateway.KeyFile = "127.0.0.1:1", true, "c", "k"
			},
			want: []string{`--plaintext and --tls-cert-file exclude each other`},
		},
		"a session needs the loopback address": {
			modify: func(c *Config) { c.Gateway.BindAddress, c.Gateway.SessionFile = ":8090", "url" },
			want:   []string{`is ":8090", but a session grants the rights of the kubeconfig: give a loopback address`},
		},
		"sessions of browsers end, the idle ones first": {
			modify: func(c *Config) { c.Gateway.SessionLifetime, c.Gateway.SessionIdleTimeout = time.Hour, 2*time.Hour },
			want:   []string{"session-idle-timeout is 2h0m0s: it must be from 1m to the session lifetime, 1h0m0s"},
		},
		"an OpenID provider needs a client, and a way back": {
			modify: func(c *Config) { c.Gateway.OIDCIssuerURL = "http://i" },
			want: []string{
				"oidc-client-id must be set", `oidc-issuer-url is "http://i": it must be an https:// URL`,
				`oidc-redirect-url is "": it must be the URL of this server with the path /v1/session/oidc/callback`,
			},
		},
		"a code is not sent in plain text": {
			modify: func(c *Config) {
				c.Gateway.OIDCIssuerURL, c.Gateway.OIDCClientID, c.Gateway.OIDCRedirectURL = "https://i", "c", "http://w"+OIDCCallback
			},
			want: []string{`oidc-redirect-url is "http://w/v1/session/oidc/callback": it must be an https:// URL`},
		},
		"a client needs a provider": {
			modify: func(c *Config) { c.Gateway.OIDCClientID = "c" },
			want:   []string{"oidc-issuer-url must be set with the other flags of the OpenID provider"},
		},
		"a token for Prometheus is not sent in plain text": {
			modify: func(c *Config) { c.Gateway.PrometheusURL = "http://prometheus.example.com" },
			want:   []string{`prometheus-url is "http://prometheus.example.com": it must be an https:// URL, or one of a loopback address`},
		},
		"a password in the URL of Prometheus": {
			modify: func(c *Config) { c.Gateway.PrometheusURL = "https://a:b@p" },
			want:   []string{"prometheus-url must be an https:// URL without a user, a query and a fragment"},
		},
		"a token needs a Prometheus": {
			modify: func(c *Config) { c.Gateway.PrometheusTokenFile = "t" },
			want:   []string{"prometheus-url must be set with the other flags of Prometheus"},
		},
		"a session has an end": {
			modify: func(c *Config) { c.Gateway.SessionLifetime = 10000 * time.Hour },
			want:   []string{"session-lifetime is 10000h0m0s: it must be from 1m to 720h"},
		},
		"the files of a certificate go together": {
			modify: func(c *Config) { c.Gateway.BindAddress, c.Gateway.CertFile = "localhost:1", "cert" },
			want:   []string{"must be set together"},
		},
		"a name of the cluster that no page can show": {
			modify: func(c *Config) { c.Gateway.BindAddress, c.Gateway.ClusterName = "localhost:1", "prod\u202e" },
			want:   []string{`cluster-name is "prod\u202e": a name has printable characters only`},
		},
		"a name of the cluster that no page has room for": {
			modify: func(c *Config) {
				c.Gateway.BindAddress, c.Gateway.ClusterName = "localhost:1", strings.Repeat("a", 129)
			},
			want: []string{"a name has at most 128 bytes"},
		},
		"the HTTP API alone needs no controllers": {
			modify: func(c *Config) { c.Controllers, c.OnlyGateway, c.LeaderElect = nil, true, false },
		},
		"what is not known of machines is told": {
			modify: func(c *Config) {
				c.Machines = Machines{"fake", "", "", "keep", -time.Second, "always", time.Millisecond}
			},
			want: []string{
				`--vm-driver "fake" is not known: there are docker, libvirt, simulated`, `--orphan-policy "keep" is not known`,
				`--usage-in-status "always" is not known`, "--orphan-grace is -1s", "--vm-sample-period is 1ms",
			},
		},
		"orphans that would be removed at once": {
			modify: func(c *Config) { c.Machines.OrphanGrace = 0 }, want: []string{"--orphan-grace is 0s and must be more than 0"},
		},
		"a program of anybody's is allowed only if it is listed": {
			modify: func(c *Config) { c.Clusters.AllowedProvisioners = []string{"rke", "exec"} },
		},
		"everything wrong with Clusters is reported": {
			modify: func(c *Config) {
				c.Clusters = Clusters{[]string{"magic"}, map[string]string{"magic": "", "rke": "a:b"}, "c", []string{"A b"}, "", "perhaps", "pod", nil, 101}
			},
			want: []string{
				`--allowed-provisioners names "magic", which does not exist: use some of rke, devcluster, exec`,
				`--config-namespaces names "A b", which is not a namespace`, `--config-root is "c" and must be absolute`,
				"--max-concurrent-operations is 101 and must be from 1 to 100", `--provisioner-path gives "" for magic, which is not the path of a program`,
				`--provisioner-path gives "a:b" for rke`, `--provisioner-path names "magic", which does not exist`,
				`--tool-isolation is "perhaps" and must be one of required, preferred, none`,
				`--tool-runner is "pod" and must be one of process, job`,
			},
		},
		"images of tools that cannot have one": {
			modify: func(c *Config) {
				c.Clusters.ToolRunner = ToolRunnerJob
				c.Clusters.ToolImages = map[string]string{"devcluster": "d", "magic": "m", "rke": "two words"}
			},
			want: []string{
				`--tool-images gives "two words" for rke, which is not the name of an image`,
				`--tool-images names "devcluster", whose clusters run on the machine`,
				`--tool-images names "magic", which does not exist: use some of rke, exec`,
			},
		},
		"images of tools that are processes": {
			modify: func(c *Config) { c.Clusters.ToolImages = map[string]string{"rke": "r"} },
			want:   []string{"--tool-images needs --tool-runner=job"},
		},
		"everything wrong is told at once": {
			modify: func(c *Config) {
				c.Controllers, c.Threads, c.Verbosity = []string{"foo"}, 0, 11
				c.LeaseLockName, c.LeaseLockNamespace, c.HolderIdentity = "A", "b.c", " "
				c.MetricsBindAddress, c.HealthProbeBindAddress = "8080", ":http"
			},
			want: []string{
				`--controllers names the unknown controller "foo"`, "--threads is 0: it must be from 1 to 256", "-v is 11: it must be from 0 to 10",
				`--lease-lock-name "A" is not a valid name`, `--lease-lock-namespace "b.c" is not a valid name`,
				"--holder-identity is empty", `--metrics-bind-address "8080" is neither host:port nor "0"`,
				`--health-probe-bind-address ":http" is neither`,
			},
		},
		"a certificate that nothing serves": {
			modify: func(c *Config) { c.MetricsCertDir = "/m" },
			want:   []string{"--metrics-cert-dir has no effect without --metrics-secure"},
		},
		"a collector without a scheme": {
			modify: func(c *Config) { c.OTLPEndpoint = "collector:4317" },
			want:   []string{"--otlp-endpoint is not the URL of a collector"},
		},
		"a collector with a path, which gRPC does not know": {
			modify: func(c *Config) { c.OTLPEndpoint = "https://collector:4318/v1/traces" },
			want:   []string{"it must be https://collector:4318"},
		},
		"a password where everybody sees it": {
			modify: func(c *Config) { c.OTLPEndpoint = "https://me:hunter2@collector:4317" },
			want:   []string{"--otlp-endpoint has a user or a password"},
		},
		"profiles for everybody": {
			modify: func(c *Config) { c.PprofBindAddress = ":6060" },
			want:   []string{`--pprof-bind-address ":6060" is not on the loopback interface`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := valid()
			if test.modify != nil {
				test.modify(&c)
			}
			var lines []string
			if err := c.Validate(); err != nil {
				lines = strings.Split(err.Error(), "\n")
			}
			if len(lines) != len(test.want) {
				t.Fatalf("got %d errors %q, want %d", len(lines), lines, len(test.want))
			}
			for i, line := range lines {
				if !strings.Contains(line, test.want[i]) {
					t.Errorf("error %d is %q, want it to contain %q", i, line, test.want[i])
				}
			}
		})
	}
}
