// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Validate returns all errors at once, so that users do not fix one flag only to learn of the next.
func (c *Config) Validate() error {
	var errs []error
	if !c.OnlyGateway {
		errs = c.validateControllers()
	}
	if c.Threads < 1 || c.Threads > MaxThreads {
		errs = append(errs, fmt.Errorf("--threads is %d: it must be from 1 to %d", c.Threads, MaxThreads))
	}
	if c.Verbosity < 0 || c.Verbosity > 10 {
		errs = append(errs, fmt.Errorf("-v is %d: it must be from 0 to 10", c.Verbosity))
	}
	if c.LogFormat != LogText && c.LogFormat != LogJSON {
		errs = append(errs, fmt.Errorf("--log-format is %q: it must be %s or %s", c.LogFormat, LogText, LogJSON))
	}
	if err := validateEndpoint(c.OTLPEndpoint); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, c.validateLease()...)
	errs = append(errs, c.Machines.validate()...)
	errs = append(errs, c.validateAddresses()...)
	errs = append(errs, c.Clusters.validate()...)
	errs = append(errs, c.Gateway.validate()...)
	return errors.Join(errs...)
}

// FlagValues returns the values of the flags that take one of a few, by the name of the flag.
func FlagValues() map[string][]string {
	return map[string][]string{
		"vm-driver": drivers(), "orphan-policy": orphanPolicies(), "usage-in-status": usageModes(),
		"allowed-provisioners": append(presets(), provisionerExec), "log-format": {LogText, LogJSON}, "tool-isolation": isolations(), "tool-runner": toolRunners(),
	}
}

func (c *Config) validateControllers() []error {
	var errs []error
	for _, entry := range c.Controllers {
		if entry != All && !slices.Contains(c.known, strings.TrimPrefix(entry, "-")) {
			errs = append(errs, fmt.Errorf("--controllers names the unknown controller %q: known controllers are %s, and '*' means all",
				entry, strings.Join(c.known, ", ")))
		}
	}
	if len(errs) == 0 && !slices.ContainsFunc(c.known, c.Enabled) {
		errs = append(errs, fmt.Errorf("--controllers=%s leaves no controller to run: put '*' before names that begin with '-'",
			strings.Join(c.Controllers, ",")))
	}
	return errs
}

func (c *Config) validateLease() []error {
	if !c.LeaderElect {
		return nil
	}
	var errs []error
	if problems := validation.IsDNS1123Subdomain(c.LeaseLockName); len(problems) > 0 {
		errs = append(errs, fmt.Errorf("--lease-lock-name %q is not a valid name: %s", c.LeaseLockName, problems[0]))
	}
	if problems := validation.IsDNS1123Label(c.LeaseLockNamespace); len(problems) > 0 {
		errs = append(errs, fmt.Errorf("--lease-lock-namespace %q is not a valid name: %s",
			c.LeaseLockNamespace, problems[0]))
	}
	if strings.TrimSpace(c.HolderIdentity) == "" {
		errs = append(errs, errors.New("--holder-identity is empty: every instance needs a unique name"))
	}
	return errs
}

func (c *Config) validateAddresses() []error {
	var errs []error
	for _, address := range []struct{ flag, value string }{
		{"--metrics-bind-address", c.MetricsBindAddress},
		{"--health-probe-bind-address", c.HealthProbeBindAddress},
		{"--pprof-bind-address", c.PprofBindAddress},
	} {
		if !isAddress(address.value) {
			errs = append(errs, fmt.Errorf("%s %q is neither host:port nor %q", address.flag, address.value, off))
		}
	}
	if len(errs) == 0 && samePort(c.MetricsBindAddress, c.HealthProbeBindAddress) {
		errs = append(errs, fmt.Errorf("--metrics-bind-address and --health-probe-bind-address are both %q: they must differ",
			c.MetricsBindAddress))
	}
	if c.MetricsCertDir != "" && !c.MetricsSecure {
		errs = append(errs, errors.New("--metrics-cert-dir has no effect without --metrics-secure: set both or none"))
	}
	if isAddress(c.PprofBindAddress) && c.PprofBindAddress != off && !onLoopback(c.PprofBindAddress) {
		errs = append(errs, fmt.Errorf("--pprof-bind-address %q is not on the loopback interface: profiles have no authentication",
			c.PprofBindAddress))
	}
	return errs
}

// validateEndpoint refuses what the exporter would misread. It refuses a password too, which would show in the list of processes.
func validateEndpoint(endpoint string) error {
	if endpoint == "" {
		return nil
	}
	at, err := url.Parse(endpoint)
	switch {
	case err != nil || at.Host == "" || (at.Scheme != "http" && at.Scheme != "https"):
		return errors.New("--otlp-endpoint is not the URL of a collector: it must be like http://host:4317, or https for TLS")
	case at.User != nil:
		return errors.New("--otlp-endpoint has a user or a password: set OTEL_EXPORTER_OTLP_HEADERS instead, which no list of processes shows")
	case strings.Trim(at.Path, "/") != "" || at.RawQuery != "" || at.Fragment != "":
		return fmt.Errorf("--otlp-endpoint has more than a host and a port: gRPC knows no paths, so it must be %s://%s", at.Scheme, at.Host)
	}
	return nil
}
