// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/windlass-operator/windlass/internal/machine"
)

// The host that the environment describes.
const (
	defaultHost     = "default"
	defaultEndpoint = "unix:///var/run/docker.sock"
)

// FromEnvironment returns the one host, called default, that the docker command would talk to by its variables:
//
//   - DOCKER_HOST: the endpoint; empty: unix:///var/run/docker.sock. The scheme tcp may be left out, and so may its port: 2376 with
//     TLS, 2375 without.
//   - DOCKER_TLS_VERIFY: anything but nothing turns TLS on, with the files ca.pem, cert.pem and key.pem.
//   - DOCKER_CERT_PATH: the directory of those files; empty: .docker in the home directory.
//
// TLS that does not verify the other side (DOCKER_TLS alone) is refused. Contexts of the docker command are not read.
func FromEnvironment(getenv func(string) string) ([]machine.Host, error) {
	host := machine.Host{Name: defaultHost, Driver: machine.DriverDocker, MaxCalls: machine.DefaultMaxCalls}
	verify := getenv("DOCKER_TLS_VERIFY") != ""
	if !verify && getenv("DOCKER_TLS") != "" {
		return nil, errors.New("DOCKER_TLS asks for TLS without verification, which is not supported: set DOCKER_TLS_VERIFY=1")
	}
	host.Endpoint = dockerEndpoint(strings.TrimSpace(getenv("DOCKER_HOST")), verify)
	if verify && strings.HasPrefix(host.Endpoint, "tcp://") {
		directory := getenv("DOCKER_CERT_PATH")
		if directory == "" {
			directory = filepath.Join(getenv("HOME"), ".docker")
		}
		host.TLS = &machine.TLSFiles{
			CA:   filepath.Join(directory, "ca.pem"),
			Cert: filepath.Join(directory, "cert.pem"),
			Key:  filepath.Join(directory, "key.pem"),
		}
	}
	if errs := validate(host); len(errs) > 0 {
		return nil, fmt.Errorf("cannot use DOCKER_HOST, DOCKER_TLS_VERIFY and DOCKER_CERT_PATH: %w", errors.Join(errs...))
	}
	return []machine.Host{host}, nil
}

// dockerEndpoint completes what may be left out.
func dockerEndpoint(value string, tls bool) string {
	if value == "" {
		return defaultEndpoint
	}
	if !strings.Contains(value, "://") {
		value = "tcp://" + value
	}
	parsed, err := url.Parse(value)
	if err != nil || parsed.Scheme != "tcp" || parsed.Port() != "" || parsed.Hostname() == "" {
		return value
	}
	port := "2375"
	if tls {
		port = "2376"
	}
	parsed.Host = net.JoinHostPort(parsed.Hostname(), port)
	return parsed.String()
}
