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

// defaultHost is the name of the only host if no file lists hosts.
const defaultHost = "default"

// Default returns the only host, with the name default, of a manager without a hosts file: the libvirt of this machine, a
// simulated host, or the engine that the variables of the docker command name.
func Default(driver string, getenv func(string) string) ([]machine.Host, error) {
	host := machine.Host{Name: defaultHost, Driver: driver, MaxCalls: machine.DefaultMaxCalls}
	switch driver {
	case machine.DriverLibvirt:
		host.Endpoint = "qemu:///system"
	case machine.DriverSimulated:
		host.Endpoint = "simulated://"
	default:
		return fromDockerVariables(getenv)
	}
	return []machine.Host{host}, nil
}

// fromDockerVariables returns the host that the docker command would connect to:
//
//   - DOCKER_HOST is the endpoint. Default: unix:///var/run/docker.sock, which need not be there. The scheme tcp is optional, and so is its port: 2376 with
//     TLS, 2375 without.
//   - DOCKER_TLS_VERIFY turns TLS on if it is not empty, with the files ca.pem, cert.pem and key.pem.
//   - DOCKER_CERT_PATH is the directory of these files. Default: .docker in the home directory.
//
// TLS without verification (DOCKER_TLS alone) is refused. Contexts of the docker command are not read.
func fromDockerVariables(getenv func(string) string) ([]machine.Host, error) {
	host := machine.Host{Name: defaultHost, Driver: machine.DriverDocker, MaxCalls: machine.DefaultMaxCalls}
	verify := getenv("DOCKER_TLS_VERIFY") != ""
	if !verify && getenv("DOCKER_TLS") != "" {
		return nil, errors.New("DOCKER_TLS without DOCKER_TLS_VERIFY means TLS without verification, which is not supported: set DOCKER_TLS_VERIFY=1")
	}
	configured := strings.TrimSpace(getenv("DOCKER_HOST"))
	host.Endpoint, host.Assumed = dockerEndpoint(configured, verify), configured == ""
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

// dockerEndpoint adds the parts of DOCKER_HOST that are optional.
func dockerEndpoint(value string, tls bool) string {
	if value == "" {
		return "unix:///var/run/docker.sock"
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
