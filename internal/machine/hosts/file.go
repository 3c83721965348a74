// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Bounds of a hosts file.
const (
	maxHostsFile = 256 << 10
	maxHosts     = 256
)

// hostsFile is the structure of a hosts file.
type hostsFile struct {
	Hosts []hostEntry `json:"hosts"`
}

type hostEntry struct {
	Name     string        `json:"name"`
	Driver   string        `json:"driver"`
	Endpoint string        `json:"endpoint"`
	TLS      *tlsEntry     `json:"tls"`
	SSH      *sshEntry     `json:"ssh"`
	Capacity capacityEntry `json:"capacity"`
	MaxCalls *int          `json:"maxCalls"`

	// Namespaces is nil if it is left out, and then allows all.
	Namespaces *[]string        `json:"namespaces"`
	Containers *containersEntry `json:"containers"`
}

type containersEntry struct {
	AllowPrivilegeEscalation bool `json:"allowPrivilegeEscalation"`
	MaxProcesses             any  `json:"maxProcesses"`
	MaxLog                   any  `json:"maxLog"`
	// Lists are nil if they are left out, which stands for the default.
	Capabilities *[]string   `json:"capabilities"`
	Registries   *[]string   `json:"registries"`
	Ports        *portsEntry `json:"ports"`
	// Networks names an existing network for a namespace, or for all others with the key *.
	Networks map[string]string `json:"networks"`
}

type portsEntry struct {
	Addresses *[]string `json:"addresses"`
	Range     string    `json:"range"`
}

type tlsEntry struct {
	CA   string `json:"ca"`
	Cert string `json:"cert"`
	Key  string `json:"key"`
}

type sshEntry struct {
	IdentityFile   string `json:"identityFile"`
	KnownHostsFile string `json:"knownHostsFile"`
}

// capacityEntry accepts any values: a quantity can be a number or a string, and a bad one must not hide other problems.
type capacityEntry struct {
	CPU      any `json:"cpu"`
	Memory   any `json:"memory"`
	RootDisk any `json:"rootDisk"`
}

// Parse parses the content of a hosts file:
//
//	hosts:
//	- name: rack-1                     # a DNS label
//	  driver: docker                   # docker, libvirt or simulated
//	  endpoint: tcp://rack-1:2376      # or unix:///run/docker.sock, ssh://ops@rack-1, qemu:///system, simulated://
//	  tls: {ca: /etc/rack-1/ca.pem, cert: /etc/rack-1/cert.pem, key: /etc/rack-1/key.pem}
//	  capacity: {cpu: 16, memory: 64Gi, rootDisk: 500Gi}
//	  maxCalls: 8
//	  namespaces: [team-a, team-b]     # those that can place machines on the host; left out: all
//	  containers:
//	    allowPrivilegeEscalation: true
//	    maxProcesses: 10000
//	    maxLog: 100Mi
//	    capabilities: [CHOWN, SETGID, SETUID]
//	    registries: [docker.io, registry.example:5000]
//	    ports: {addresses: [127.0.0.1, 10.0.0.5], range: 30000-32767}
//	    networks: {team-a: team-a-net, "*": bridge}
//	- name: rack-2
//	  driver: docker
//	  endpoint: ssh://ops@rack-2
//	  ssh: {identityFile: /etc/rack-2/id, knownHostsFile: /etc/rack-2/known_hosts}
//	- name: rack-3
//	  driver: libvirt
//	  endpoint: qemu+tls://rack-3/system   # or qemu+ssh://ops@rack-3/system, qemu:///system
//	  tls: {ca: /etc/rack-3/ca.pem, cert: /etc/rack-3/cert.pem, key: /etc/rack-3/key.pem}
//
// Name, driver and endpoint are required. In containers, which is for docker only, 0 means no limit. Unknown fields, and fields without a value, are refused. The hosts are sorted by name, and the error lists every problem
// with the host that has it. Parse does not read the files that a host names.
func Parse(data []byte) ([]machine.Host, error) {
	if len(data) > maxHostsFile {
		return nil, fmt.Errorf("cannot read the hosts file: it has %d bytes: must have at most %d", len(data), maxHostsFile)
	}
	raw, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, fmt.Errorf("cannot read the hosts file: %w", err)
	}
	var file hostsFile
	strict, err := json.UnmarshalStrict(raw, &file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the hosts file: %w", err)
	}
	if len(file.Hosts) > maxHosts {
		return nil, fmt.Errorf("cannot read the hosts file: it has %d hosts: must have at most %d", len(file.Hosts), maxHosts)
	}
	errs := strict
	if len(file.Hosts) == 0 {
		errs = append(errs, errors.New("hosts is empty: add at least one"))
	}
	empty, err := nulls(raw)
	if err != nil {
		return nil, fmt.Errorf("cannot read the hosts file: %w", err)
	}
	hosts, problems := file.hosts(empty)
	if errs = append(errs, problems...); len(errs) > 0 {
		return nil, fmt.Errorf("cannot use the hosts file: %w", errors.Join(errs...))
	}
	return hosts, nil
}

// hosts returns the hosts sorted by name, and every problem with them. Empty are the fields of each that have no value.
func (f hostsFile) hosts(empty [][]string) ([]machine.Host, []error) {
	var errs []error
	hosts := make([]machine.Host, 0, len(f.Hosts))
	seen := map[string]bool{}
	for i, entry := range f.Hosts {
		at := fmt.Sprintf("hosts[%d]", i)
		if entry.Name != "" {
			at = fmt.Sprintf("%s %q", at, entry.Name)
		}
		host, problems := entry.host()
		for _, field := range empty[i] {
			problems = append(problems, fmt.Errorf("%s has no value: give it one, or leave it out", field))
		}
		if seen[host.Name] && host.Name != "" {
			problems = append(problems, errors.New("an earlier host has the same name"))
		}
		seen[host.Name] = true
		for _, problem := range problems {
			errs = append(errs, fmt.Errorf("%s: %w", at, problem))
		}
		hosts = append(hosts, host)
	}
	slices.SortFunc(hosts, func(a, b machine.Host) int { return cmp.Compare(a.Name, b.Name) })
	return hosts, errs
}

// host returns the entry as a Host, and every problem with it.
func (e hostEntry) host() (machine.Host, []error) {
	host := machine.Host{Name: e.Name, Driver: e.Driver, Endpoint: e.Endpoint, MaxCalls: machine.DefaultMaxCalls}
	if e.TLS != nil {
		host.TLS = &machine.TLSFiles{CA: e.TLS.CA, Cert: e.TLS.Cert, Key: e.TLS.Key}
	}
	if e.SSH != nil {
		host.SSH = &machine.SSHFiles{IdentityFile: e.SSH.IdentityFile, KnownHostsFile: e.SSH.KnownHostsFile}
	}
	if e.MaxCalls != nil {
		host.MaxCalls = *e.MaxCalls
	}
	var errs []error
	quantity := func(field string, value any, scale resource.Scale) int64 {
		n, err := parseQuantity(value, scale)
		if err != nil {
			errs = append(errs, fmt.Errorf("capacity.%s %w", field, err))
		}
		return n
	}
	host.Capacity = machine.Resources{
		MilliCPU:      quantity("cpu", e.Capacity.CPU, resource.Milli),
		MemoryBytes:   quantity("memory", e.Capacity.Memory, 0),
		RootDiskBytes: quantity("rootDisk", e.Capacity.RootDisk, 0),
	}
	if e.Namespaces != nil {
		host.Namespaces = *e.Namespaces
		errs = append(errs, checkNamespaces(host.Namespaces)...)
	}
	if e.Containers != nil {
		policy, problems := e.Containers.policy()
		host.Containers = policy
		errs = append(errs, problems...)
	}
	return host, append(validate(host), errs...)
}

// policy returns the entry as a ContainerPolicy, and every problem with it.
func (e containersEntry) policy() (machine.ContainerPolicy, []error) {
	var errs []error
	limit := func(field string, value any) int64 {
		n, err := parseLimit(value)
		if err != nil {
			errs = append(errs, fmt.Errorf("containers.%s %w", field, err))
		}
		return n
	}
	policy := machine.ContainerPolicy{
		AllowPrivilegeEscalation: e.AllowPrivilegeEscalation,
		MaxProcesses:             limit("maxProcesses", e.MaxProcesses),
		MaxLogBytes:              limit("maxLog", e.MaxLog),
	}
	var problems []error
	if e.Capabilities != nil {
		policy.Capabilities, problems = capabilities(*e.Capabilities)
		errs = append(errs, problems...)
	}
	if e.Registries != nil {
		policy.Registries, problems = registries(*e.Registries)
		errs = append(errs, problems...)
	}
	if e.Ports != nil {
		policy.Ports, problems = e.Ports.policy()
		errs = append(errs, problems...)
	}
	policy.Networks = e.Networks
	return policy, append(errs, checkNetworks(e.Networks)...)
}

// parseLimit parses a quantity of which 0 means no limit, and none means the default.
func parseLimit(value any) (int64, error) {
	if value != nil && fmt.Sprint(value) == "0" {
		return unlimited, nil
	}
	return parseQuantity(value, 0)
}

// unlimited is the value of a limit in a machine.ContainerPolicy that does not limit.
const unlimited = -1

// parseQuantity parses a quantity that is a number or a string; 0 if there is none.
func parseQuantity(value any, scale resource.Scale) (int64, error) {
	if value == nil {
		return 0, nil
	}
	text := fmt.Sprint(value)
	if number, ok := value.(float64); ok && number == math.Trunc(number) && math.Abs(number) < 1<<53 {
		text = strconv.FormatInt(int64(number), 10)
	}
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return 0, fmt.Errorf("is %.64q: must be a quantity like 16 or 64Gi", text)
	}
	if quantity.Sign() <= 0 {
		return 0, fmt.Errorf("is %.64q: must be greater than 0; omit it for the default", text)
	}
	if quantity.CmpInt64(maxQuantity) > 0 {
		return 0, fmt.Errorf("is %.64q: must be at most %d", text, int64(maxQuantity))
	}
	return quantity.ScaledValue(scale), nil
}

// maxQuantity keeps any quantity within an int64 when it is counted in thousandths.
const maxQuantity = math.MaxInt64 / 1000
