// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"crypto/rand"
	"os"
	"strings"
)

// namespaceFile is the file in which Kubernetes gives a Pod its namespace.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// Environment is what the process reads from its surroundings.
type Environment struct {
	// Getenv returns an environment variable, or an empty string if it is not set.
	Getenv func(key string) string
	// ReadFile returns the content of a file.
	ReadFile func(path string) ([]byte, error)
	// Hostname returns the name of the host.
	Hostname func() (string, error)
	// Random returns a suffix that no other process has.
	Random func() string
}

// OS returns the environment of this process.
func OS() Environment {
	return Environment{
		Getenv:   os.Getenv,
		ReadFile: os.ReadFile,
		Hostname: os.Hostname,
		Random:   func() string { return strings.ToLower(rand.Text()[:8]) },
	}
}

// FromEnv sets what no flag has set: the identity of this instance, its own namespace and that of its Lease, and the directory for
// the runs of tools.
func (c *Config) FromEnv(env Environment) {
	c.OwnNamespace = cmp.Or(env.Getenv("POD_NAMESPACE"), podNamespace(env))
	if c.LeaseLockNamespace == "" {
		c.LeaseLockNamespace = cmp.Or(c.OwnNamespace, DefaultNamespace)
	}
	if c.HolderIdentity == "" {
		c.HolderIdentity = cmp.Or(env.Getenv("POD_NAME"), hostIdentity(env))
	}
	c.Clusters.fromEnv(env.Getenv)
}

func podNamespace(env Environment) string {
	raw, err := env.ReadFile(namespaceFile)
	if err != nil {
		return "" // not in a Pod
	}
	return strings.TrimSpace(string(raw))
}

// hostIdentity has a random part, because two instances can run on one host.
func hostIdentity(env Environment) string {
	host, err := env.Hostname()
	if err != nil {
		host = "windlass"
	}
	return host + "_" + env.Random()
}
