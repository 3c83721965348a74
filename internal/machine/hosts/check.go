// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Bounds of a host.
const (
	maxEndpoint = 2048
	maxPath     = 4096
	maxCalls    = 256

	maxNamespaces = 256
)

// validate returns every problem of the host.
func validate(h machine.Host) []error {
	var errs []error
	for _, problem := range validation.IsDNS1123Label(h.Name) {
		errs = append(errs, fmt.Errorf("name %.64q is not a DNS label: %s", h.Name, problem))
	}
	schemes := schemesOf(h.Driver)
	if schemes == nil {
		errs = append(errs, fmt.Errorf("driver %.64q does not exist: must be %s, %s or %s",
			h.Driver, machine.DriverDocker, machine.DriverLibvirt, machine.DriverSimulated))
	}
	if h.MaxCalls < 1 || h.MaxCalls > maxCalls {
		errs = append(errs, fmt.Errorf("maxCalls %d is out of range: must be from 1 to %d", h.MaxCalls, maxCalls))
	}
	if !reflect.DeepEqual(h.Containers, machine.ContainerPolicy{}) && h.Driver != machine.DriverDocker {
		errs = append(errs, fmt.Errorf("containers needs driver %s, not %.64s", machine.DriverDocker, h.Driver))
	}
	endpoint, err := parseEndpoint(h.Endpoint, schemes)
	if err != nil {
		return append(errs, err)
	}
	errs = append(errs, validateTLS(h, endpoint.Scheme)...)
	return append(errs, validateSSH(h, endpoint.Scheme)...)
}

// schemesOf returns the schemes that endpoints of the driver can have; nil if the driver does not exist.
func schemesOf(driver string) []string {
	switch driver {
	case machine.DriverDocker:
		return []string{"unix", "tcp", "ssh"}
	case machine.DriverLibvirt:
		return []string{"qemu", "qemu+unix", "qemu+tcp", "qemu+tls", "qemu+ssh", "test", "test+unix"}
	case machine.DriverSimulated:
		return []string{"simulated"}
	default:
		return nil
	}
}

// parseEndpoint checks the form of the endpoint. Its errors never repeat the whole endpoint, which may contain a password.
func parseEndpoint(endpoint string, schemes []string) (*url.URL, error) {
	if len(endpoint) > maxEndpoint {
		return nil, fmt.Errorf("endpoint has %d bytes: must have at most %d", len(endpoint), maxEndpoint)
	}
	if endpoint == "" {
		return nil, errors.New("endpoint is missing")
	}
	parsed, err := url.Parse(endpoint)
	if err != nil {
		return nil, errors.New("endpoint is not a URL")
	}
	if _, password := parsed.User.Password(); password {
		return nil, errors.New("endpoint contains a password, which is not supported: use a key file")
	}
	if parsed.Scheme == "" {
		return nil, errors.New("endpoint has no scheme, the part before ://")
	}
	if len(schemes) > 0 && !slices.Contains(schemes, parsed.Scheme) {
		return nil, fmt.Errorf("endpoint begins with %.32q: must begin with %s://",
			parsed.Scheme+"://", strings.Join(schemes, "://, "))
	}
	switch parsed.Scheme {
	case "unix":
		if parsed.Host != "" || !filepath.IsAbs(parsed.Path) {
			return nil, errors.New("endpoint must name a socket by its absolute path, like unix:///run/docker.sock")
		}
	case "tcp", "ssh", "qemu+tcp", "qemu+tls", "qemu+ssh":
		if parsed.Hostname() == "" {
			return nil, fmt.Errorf("endpoint must name a machine after %s://", parsed.Scheme)
		}
	}
	if parsed.Scheme == "qemu+tcp" && !isLoopback(parsed.Hostname()) {
		return nil, errors.New("endpoint begins with qemu+tcp://, where nobody has to log in and everybody can listen: " +
			"use qemu+tls:// or qemu+ssh://; qemu+tcp:// must name this machine, as in qemu+tcp://127.0.0.1/system")
	}
	return parsed, nil
}

// isLoopback reports whether a host is this machine, which a name other than localhost may or may not be.
func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

func validateTLS(h machine.Host, scheme string) []error {
	if h.TLS == nil {
		return nil
	}
	var errs []error
	if scheme != "tcp" && scheme != "qemu+tls" {
		errs = append(errs, fmt.Errorf("tls needs an endpoint that begins with tcp:// or qemu+tls://, not %s://", scheme))
	}
	if (h.TLS.Cert == "") != (h.TLS.Key == "") {
		errs = append(errs, errors.New("tls.cert and tls.key must be set together"))
	}
	return append(errs, checkPaths("tls.ca", h.TLS.CA, "tls.cert", h.TLS.Cert, "tls.key", h.TLS.Key)...)
}

func validateSSH(h machine.Host, scheme string) []error {
	if h.SSH == nil {
		return nil
	}
	var errs []error
	if scheme != "ssh" && scheme != "qemu+ssh" {
		errs = append(errs, fmt.Errorf("ssh needs an endpoint that begins with ssh:// or qemu+ssh://, not %s://", scheme))
	}
	return append(errs, checkPaths("ssh.identityFile", h.SSH.IdentityFile, "ssh.knownHostsFile", h.SSH.KnownHostsFile)...)
}

// checkPaths checks that paths are absolute: the working directory of the manager must not matter. Its arguments are fields and
// their values in turn.
func checkPaths(fieldsAndPaths ...string) []error {
	var errs []error
	for pair := range slices.Chunk(fieldsAndPaths, 2) {
		field, path := pair[0], pair[1]
		switch {
		case len(path) > maxPath:
			errs = append(errs, fmt.Errorf("%s has %d bytes: must have at most %d", field, len(path), maxPath))
		case path != "" && !filepath.IsAbs(path):
			errs = append(errs, fmt.Errorf("%s is %.64q: must be an absolute path", field, path))
		}
	}
	return errs
}

// checkNamespaces checks the namespaces that can use a host. An empty list is refused: it might be meant as none, or as all.
func checkNamespaces(namespaces []string) []error {
	if len(namespaces) == 0 {
		return []error{errors.New("namespaces is empty: name at least one, or leave namespaces out to allow all")}
	}
	if len(namespaces) > maxNamespaces {
		return []error{fmt.Errorf("namespaces has %d names: must have at most %d", len(namespaces), maxNamespaces)}
	}
	var errs []error
	for i, name := range namespaces {
		for _, problem := range validation.IsDNS1123Label(name) {
			errs = append(errs, fmt.Errorf("namespaces[%d] %.64q is not the name of a namespace: %s", i, name, problem))
		}
	}
	return errs
}
