// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package config is the configuration of "windlass manager" and "windlass gateway": defaults, flags, environment, and one
// validation of all of it.
package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Config is the configuration of the manager. The zero value is not usable: see Default.
type Config struct {
	// Kubeconfig is the path of a kubeconfig. Default: empty, which means the files in $KUBECONFIG, else the account
	// of the Pod that the process runs in, else ~/.kube/config.
	Kubeconfig string

	// Master is the URL of the API server. Default: empty, the one in the kubeconfig.
	Master string

	// Controllers are the controllers to run: names, "*" for all, and "-name" for all but that one. The first entry that
	// names a controller decides. Default: "*".
	Controllers []string

	// LeaderElect lets several instances run: a Lease decides which one works. Default: true.
	LeaderElect bool

	// LeaseLockName is the name of that Lease. Default: windlass.
	LeaseLockName string

	// LeaseLockNamespace is the namespace of that Lease. Default: $POD_NAMESPACE, else the namespace of the Pod that the
	// process runs in, else windlass-system.
	LeaseLockNamespace string

	// OwnNamespace is the namespace that the process runs in, whose pods no admission policy matches: $POD_NAMESPACE, else that
	// of the Pod. Empty outside of a cluster. No flag sets it.
	OwnNamespace string

	// HolderIdentity is the name of this instance in the Lease; it must be unique. Default: $POD_NAME, else
	// the host name with a random suffix.
	HolderIdentity string

	// Threads is how many objects each controller works on at the same time, from 1 to MaxThreads. Default: 8. The API
	// server is the limit: measurements show no gain above 16.
	Threads int

	// MetricsBindAddress is the host:port that serves Prometheus metrics at /metrics; "0" turns it off. Without MetricsSecure
	// nobody is asked who they are, therefore it is on the loopback address. Default: 127.0.0.1:8080.
	MetricsBindAddress string

	// MetricsSecure serves the metrics over TLS, and only to tokens that may get the path /metrics: the API server is asked with a
	// TokenReview and a SubjectAccessReview.
	MetricsSecure bool

	// MetricsCertDir is the directory with tls.crt and tls.key for MetricsSecure, which are read again when they change. Empty:
	// a certificate of this process' own, which nobody can verify.
	MetricsCertDir string

	// HealthProbeBindAddress is the host:port that serves /healthz and /readyz; "0" turns it off. Default: :8081.
	HealthProbeBindAddress string

	// PprofBindAddress is the host:port, on the loopback address, that serves profiles of the process at /debug/pprof/; "0"
	// turns it off. Default: "0".
	PprofBindAddress string

	// Verbosity is how much is logged, as in the components of Kubernetes: 0 what an operator must see, 2 steady state, 4
	// decisions, 6 and above every request. Default: 0.
	Verbosity int

	// LogFormat is text, for people, or json, for programs. Default: text.
	LogFormat string

	// LogToStderr is accepted for manifests that set it and has no effect: logs always go to standard error.
	LogToStderr bool

	// OTLPEndpoint is the URL of an OpenTelemetry collector that takes traces over OTLP and gRPC. Default: empty, no traces.
	OTLPEndpoint string

	// Machines configures VirtualMachines.
	Machines Machines

	// Clusters configures Clusters.
	Clusters Clusters

	// Gateway configures the HTTP API.
	Gateway Gateway

	// OnlyGateway runs no controllers. No flag sets it.
	OnlyGateway bool

	known []string
}

// DefaultNamespace is where the manifests put Windlass, and where it keeps its state if it runs outside of a cluster.
const DefaultNamespace = "windlass-system"

// MaxThreads bounds Threads: more would only queue in the API server.
const MaxThreads = 256

// The formats of the log.
const (
	LogText = "text"
	LogJSON = "json"
)

// All is the entry of Controllers that stands for every controller.
const All = "*"

// Default returns the defaults that depend on nothing outside, for a manager that knows the named controllers.
func Default(known ...string) Config {
	return Config{
		Controllers:            []string{All},
		LeaderElect:            true,
		LeaseLockName:          "windlass",
		Threads:                8,
		MetricsBindAddress:     "127.0.0.1:8080",
		HealthProbeBindAddress: ":8081",
		PprofBindAddress:       off,
		LogFormat:              LogText,
		LogToStderr:            true,
		Clusters:               defaultClusters(),
		Gateway: Gateway{
			BindAddress: off, RequestsPerSecond: 100, ConnectionsPerAddress: 1024, SessionLifetime: 12 * time.Hour, SessionIdleTimeout: time.Hour,
			OIDCScopes: []string{"profile", "email", "offline_access"},
		},
		Machines: defaultMachines(),
		known:    known,
	}
}

// BindFlags declares the flags. Their defaults are the values that c has at the time of the call.
func (c *Config) BindFlags(fs *pflag.FlagSet) {
	c.BindClusterFlags(fs)
	fs.StringSliceVar(&c.Controllers, "controllers", c.Controllers, fmt.Sprintf(
		"`names` of the controllers to run: '*' for all, 'foo' for foo, '-foo' for all but foo; known controllers: %s", strings.Join(c.known, ", ")))
	fs.BoolVar(&c.LeaderElect, "leader-elect", c.LeaderElect,
		"elect a leader with a Lease, so that several instances can run and one works")
	fs.StringVar(&c.LeaseLockName, "lease-lock-name", c.LeaseLockName, "`name` of the Lease for leader election")
	fs.StringVar(&c.LeaseLockNamespace, "lease-lock-namespace", c.LeaseLockNamespace,
		"`namespace` of the Lease (default $POD_NAMESPACE, else the namespace of the Pod, else "+DefaultNamespace+")")
	fs.StringVar(&c.HolderIdentity, "holder-identity", c.HolderIdentity,
		"unique `name` of this instance in the Lease (default $POD_NAME, else the host name with a random suffix)")
	fs.IntVar(&c.Threads, "threads", c.Threads, "`number` of objects that each controller reconciles at the same time")
	fs.StringVar(&c.OTLPEndpoint, "otlp-endpoint", c.OTLPEndpoint, "`URL` of an OpenTelemetry collector that takes traces over gRPC, such as "+
		"http://127.0.0.1:4317;\n$OTEL_EXPORTER_OTLP_HEADERS, _CERTIFICATE and others say how (default: no traces)")
	c.Machines.bindFlags(fs)
	c.Clusters.bindFlags(fs)
	c.bindServerFlags(fs)
	c.Gateway.BindFlags(fs, "gateway-")
}

// BindCommonFlags declares the flags that a process without controllers has.
func (c *Config) BindCommonFlags(fs *pflag.FlagSet) {
	c.BindClusterFlags(fs)
	c.bindServerFlags(fs)
}

// BindClusterFlags declares the flags that say which cluster it is.
func (c *Config) BindClusterFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.Kubeconfig, "kubeconfig", c.Kubeconfig, "`file` with the kubeconfig of the cluster (default $KUBECONFIG, else the "+
		"account of the Pod,\nelse ~/.kube/config, else /etc/kubernetes/admin.conf)")
	fs.StringVar(&c.Master, "master", c.Master, "`URL` of the API server, in place of the one in the kubeconfig")
}

func (c *Config) bindServerFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.MetricsBindAddress, "metrics-bind-address", c.MetricsBindAddress,
		"`host:port` that serves /metrics, without authentication unless --metrics-secure is set; \"0\" turns it off")
	fs.BoolVar(&c.MetricsSecure, "metrics-secure", c.MetricsSecure,
		"serve /metrics over TLS, to callers whose token may get the path /metrics")
	fs.StringVar(&c.MetricsCertDir, "metrics-cert-dir", c.MetricsCertDir,
		"`directory` with tls.crt and tls.key for --metrics-secure (default: a certificate made at start)")
	fs.StringVar(&c.HealthProbeBindAddress, "health-probe-bind-address", c.HealthProbeBindAddress,
		"`host:port` that serves /healthz and /readyz; \"0\" turns it off")
	fs.StringVar(&c.PprofBindAddress, "pprof-bind-address", c.PprofBindAddress,
		"`host:port` on the loopback interface that serves profiles at /debug/pprof/; \"0\" turns it off")
	fs.IntVarP(&c.Verbosity, "v", "v", c.Verbosity, "`level` of detail in the log, from 0 to 10")
	fs.StringVar(&c.LogFormat, "log-format", c.LogFormat, "`text|json`: text has columns, and colours on a terminal")
	fs.BoolVar(&c.LogToStderr, "logtostderr", c.LogToStderr,
		"has no effect: logs always go to standard error")
}

// Enabled reports whether the named controller runs.
func (c *Config) Enabled(name string) bool {
	if c.OnlyGateway {
		return false
	}
	all := false
	for _, entry := range c.Controllers {
		switch entry {
		case name:
			return true
		case "-" + name:
			return false
		case All:
			all = true
		}
	}
	return all
}
