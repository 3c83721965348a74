// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-operator/windlass/internal/machine"
)

const fullHosts = `
hosts:
- name: rack-2
  driver: docker
  endpoint: ssh://ops@rack-2
  ssh: {identityFile: /etc/rack-2/id, knownHostsFile: /etc/rack-2/known_hosts}
- name: rack-1
  driver: docker
  endpoint: tcp://rack-1:2376
  tls: {ca: /etc/rack-1/ca.pem, cert: /etc/rack-1/cert.pem, key: /etc/rack-1/key.pem}
  capacity: {cpu: 16, memory: 64Gi, rootDisk: 500G}
  maxCalls: 4
  namespaces: [team-b, team-a]
  containers:
    allowPrivilegeEscalation: true
    maxProcesses: 0
    maxLog: 100Mi
    capabilities: [CAP_NET_RAW, CHOWN]
    registries: [docker.io, registry.example:5000]
    ports: {addresses: [127.0.0.1, "::"], range: 30000-32767}
    networks: {team-a: team-a-net, "*": bridge}
- name: hyper
  driver: libvirt
  endpoint: qemu:///system
  capacity: {cpu: "1500m", memory: 4000000000}
- name: play
  driver: simulated
  endpoint: simulated://?latency=20ms
`

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := Parse([]byte(fullHosts))
	if err != nil {
		t.Fatal(err)
	}
	want := []machine.Host{
		{
			Name: "hyper", Driver: machine.DriverLibvirt, Endpoint: "qemu:///system", MaxCalls: machine.DefaultMaxCalls,
			Capacity: machine.Resources{MilliCPU: 1500, MemoryBytes: 4e9},
		},
		{Name: "play", Driver: machine.DriverSimulated, Endpoint: "simulated://?latency=20ms", MaxCalls: machine.DefaultMaxCalls},
		{
			Name: "rack-1", Driver: machine.DriverDocker, Endpoint: "tcp://rack-1:2376", MaxCalls: 4,
			TLS:        &machine.TLSFiles{CA: "/etc/rack-1/ca.pem", Cert: "/etc/rack-1/cert.pem", Key: "/etc/rack-1/key.pem"},
			Capacity:   machine.Resources{MilliCPU: 16_000, MemoryBytes: 64 << 30, RootDiskBytes: 500e9},
			Namespaces: []string{"team-b", "team-a"},
			Containers: machine.ContainerPolicy{
				AllowPrivilegeEscalation: true, MaxProcesses: -1, MaxLogBytes: 100 << 20,
				Capabilities: []string{"NET_RAW", "CHOWN"},
				Registries:   []string{"docker.io", "registry.example:5000"},
				Ports: machine.PortPolicy{
					Addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Unspecified()}, First: 30000, Last: 32767,
				},
				Networks: map[string]string{"team-a": "team-a-net", "*": "bridge"},
			},
		},
		{
			Name: "rack-2", Driver: machine.DriverDocker, Endpoint: "ssh://ops@rack-2", MaxCalls: machine.DefaultMaxCalls,
			SSH: &machine.SSHFiles{IdentityFile: "/etc/rack-2/id", KnownHostsFile: "/etc/rack-2/known_hosts"},
		},
	}
	if diff := gocmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// entry returns a hosts file with one host, with some lines replaced or added.
func entry(lines ...string) string {
	fields := map[string]string{"name": "a", "driver": "docker", "endpoint": "tcp://a:2376"}
	var extra strings.Builder
	for _, line := range lines {
		field, value, _ := strings.Cut(line, ": ")
		if _, known := fields[field]; known {
			fields[field] = value
			continue
		}
		fmt.Fprintf(&extra, "  %s\n", line)
	}
	return fmt.Sprintf("hosts:\n- name: %s\n  driver: %s\n  endpoint: %s\n%s",
		fields["name"], fields["driver"], fields["endpoint"], extra.String())
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"an empty file":            {"", []string{"hosts is empty"}},
		"no hosts":                 {"hosts: []", []string{"hosts is empty"}},
		"bad YAML":                 {"hosts: [", []string{"cannot read the hosts file"}},
		"a list":                   {"- name: a", []string{"cannot read the hosts file"}},
		"a field that is repeated": {"hosts: []\nhosts: []", []string{"cannot read the hosts file"}},
		"an unknown field":         {entry("colour: red"), []string{`unknown field "hosts[0].colour"`}},
		"unknown fields and more": {
			entry("colour: red", "driver: xen", "size: 9"),
			[]string{`"hosts[0].colour"`, `"hosts[0].size"`, `hosts[0] "a": driver "xen" does not exist`},
		},
		"everything missing": {
			"hosts: [{}]",
			[]string{`hosts[0]: name "" is not a DNS label`, `hosts[0]: driver "" does not exist`, "hosts[0]: endpoint is missing"},
		},
		"one name twice": {
			strings.TrimSpace(fullHosts) + "\n- {name: play, driver: simulated, endpoint: 'simulated://'}",
			[]string{`hosts[4] "play": an earlier host has the same name`},
		},
		"problems of several hosts": {
			"hosts: [{name: a, driver: docker, endpoint: 'http://a'}, {name: B, driver: docker, endpoint: 'tcp://b'}]",
			[]string{`hosts[0] "a": endpoint begins with "http://"`, `hosts[1] "B": name "B" is not a DNS label`},
		},
		"an endpoint of another driver":      {entry("endpoint: qemu:///system"), []string{`begins with "qemu://": must begin with unix://, tcp://, ssh://`}},
		"an endpoint without machine":        {entry("endpoint: tcp://"), []string{"must name a machine after tcp://"}},
		"an endpoint without scheme":         {entry("endpoint: rack-1"), []string{"endpoint has no scheme"}},
		"an endpoint that is not a URL":      {entry(`endpoint: "tcp://a b"`), []string{"endpoint is not a URL"}},
		"an endpoint with a relative path":   {entry("endpoint: unix://docker.sock"), []string{"by its absolute path"}},
		"an endpoint that is too long":       {entry("endpoint: tcp://" + strings.Repeat("a", maxEndpoint)), []string{"must have at most 2048"}},
		"TLS for a socket":                   {entry("endpoint: unix:///a", "tls: {ca: /ca}"), []string{"tls needs an endpoint that begins with tcp://"}},
		"a certificate without key":          {entry("tls: {ca: /ca, cert: /c}"), []string{"tls.cert and tls.key must be set together"}},
		"a relative path":                    {entry("tls: {ca: ca.pem}"), []string{`tls.ca is "ca.pem": must be an absolute path`}},
		"SSH files without SSH":              {entry("ssh: {identityFile: /id}"), []string{"ssh needs an endpoint that begins with ssh://"}},
		"a capacity in words":                {entry("capacity: {cpu: many}"), []string{`capacity.cpu is "many": must be a quantity`}},
		"a capacity that is a list":          {entry("capacity: {cpu: [1]}"), []string{`capacity.cpu is "[1]": must be a quantity`}},
		"a capacity of 0 or less":            {entry("capacity: {memory: -1Gi, cpu: 0}"), []string{`capacity.memory is "-1Gi"`, `capacity.cpu is "0": must be greater than 0`}},
		"a capacity that is too large":       {entry("capacity: {memory: 9E}"), []string{`capacity.memory is "9E": must be at most`}},
		"a negative number of processes":     {entry("containers: {maxProcesses: -1}"), []string{`containers.maxProcesses is "-1": must be greater than 0`}},
		"a log in words":                     {entry("containers: {maxLog: much}"), []string{`containers.maxLog is "much": must be a quantity`}},
		"an unknown capability":              {entry("containers: {capabilities: [chown]}"), []string{`containers.capabilities[0] "chown" is not a capability`}},
		"a registry with a scheme":           {entry("containers: {registries: ['https://a']}"), []string{`containers.registries[0] "https://a" is not the host of a registry`}},
		"the network of the host":            {entry("containers: {networks: {a: host}}"), []string{"containers.networks[\"a\"] is host: containers must not share"}},
		"a network of a container":           {entry("containers: {networks: {'*': 'container:db'}}"), []string{`containers.networks["*"] is "container:db": must be the name of a network`}},
		"a network with a long name":         {entry("containers: {networks: {a: " + strings.Repeat("n", maxNetworkName+1) + "}}"), []string{`containers.networks["a"] is "nnn`, "must be the name of a network"}},
		"a network for no namespace":         {entry("containers: {networks: {A: a}}"), []string{`containers.networks has the key "A": must be the name of a namespace, or *`}},
		"no registries":                      {entry("containers: {registries: []}"), []string{"containers.registries is empty"}},
		"an address with a port":             {entry("containers: {ports: {addresses: ['127.0.0.1:80']}}"), []string{`containers.ports.addresses[0] "127.0.0.1:80" is not an IP address`}},
		"a range that ends before it begins": {entry("containers: {ports: {range: 9-1}}"), []string{`containers.ports.range is "9-1": must be two ports like 30000-32767`}},
		"too many capabilities": {
			entry("containers: {capabilities: [" + strings.Repeat("KILL,", maxAllowed+1) + "]}"),
			[]string{"containers.capabilities has 65 entries: must have at most 64"},
		},
		"libvirt without a login": {
			entry("driver: libvirt", "endpoint: qemu+tcp://rack-1/system"), []string{"use qemu+tls:// or qemu+ssh://; qemu+tcp:// must name this machine"},
		},
		"libvirt without a login, on all addresses": {
			entry("driver: libvirt", "endpoint: 'qemu+tcp://0.0.0.0/system'"), []string{"endpoint begins with qemu+tcp://, where nobody has to log in"},
		},
		"libvirt on a machine without a name": {
			entry("driver: libvirt", "endpoint: qemu+tls:///system"), []string{"endpoint must name a machine after qemu+tls://"},
		},
		"containers of libvirt": {
			entry("driver: libvirt", "endpoint: qemu:///system", "containers: {maxLog: 1Mi}"), []string{"containers needs driver docker, not libvirt"},
		},
		"an empty list of namespaces": {entry("namespaces: []"), []string{"namespaces is empty: name at least one, or leave namespaces out to allow all"}},
		"a bad namespace":             {entry("namespaces: [a, Team_B]"), []string{`namespaces[1] "Team_B" is not the name of a namespace`}},
		"too many namespaces":         {entry("namespaces: [" + strings.Repeat("a,", maxNamespaces+1) + "]"), []string{"namespaces has 257 names: must have at most 256"}},

		// A field whose lines are all commented out was the widest default: all namespaces, no TLS, any registry.
		"namespaces without a value":         {entry("namespaces:", "# - team-a"), []string{`hosts[0] "a": namespaces has no value: give it one, or leave it out`}},
		"TLS without a value":                {entry("tls:", "#  ca: /ca"), []string{`hosts[0] "a": tls has no value`}},
		"SSH without a value":                {entry("endpoint: ssh://a", "ssh:"), []string{`hosts[0] "a": ssh has no value`}},
		"a file without a value":             {entry("tls: {ca: }"), []string{`hosts[0] "a": tls.ca has no value`}},
		"registries without a value":         {entry("containers: {registries: }"), []string{`hosts[0] "a": containers.registries has no value`}},
		"capabilities that are null":         {entry("containers: {capabilities: null}"), []string{`hosts[0] "a": containers.capabilities has no value`}},
		"containers without a value":         {entry("containers:"), []string{`hosts[0] "a": containers has no value`}},
		"a capacity without a value":         {entry("capacity:"), []string{`hosts[0] "a": capacity has no value`}},
		"a network without a value":          {entry("containers: {networks: {a: }}"), []string{`hosts[0] "a": containers.networks.a has no value`}},
		"several fields without a value":     {entry("maxCalls:", "capacity: {memory: ~, cpu: ~}"), []string{"capacity.cpu has no", "capacity.memory has no", "maxCalls has no"}},
		"an entry of a list without a value": {entry("namespaces: [team-a, ~]"), []string{`hosts[0] "a": namespaces[1] has no value`}},
		"a host without a value":             {"hosts: [~]", []string{"hosts[0]: endpoint is missing"}},

		"no calls":       {entry("maxCalls: 0"), []string{"maxCalls 0 is out of range: must be from 1 to 256"}},
		"too many bytes": {"#" + strings.Repeat("x", maxHostsFile), []string{"must have at most 262144"}},
		"too many hosts": {"hosts: [" + strings.Repeat("{},", maxHosts+1) + "]", []string{"it has 257 hosts: must have at most 256"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts, err := Parse([]byte(c.file))
			if err == nil {
				t.Fatalf("accepted: %+v", hosts)
			}
			for _, sentence := range c.want {
				if !strings.Contains(err.Error(), sentence) {
					t.Errorf("the error is\n%s\nwant in it\n%s", err, sentence)
				}
			}
		})
	}
}

func TestParseLibvirtOnTheNetwork(t *testing.T) {
	t.Parallel()
	for endpoint, file := range map[string]struct {
		files string
		want  machine.Host
	}{
		"qemu+tls://rack-1/system": {
			"tls: {ca: /a, cert: /c, key: /k}", machine.Host{TLS: &machine.TLSFiles{CA: "/a", Cert: "/c", Key: "/k"}},
		},
		"qemu+ssh://ops@rack-1:2222/system": {
			"ssh: {identityFile: /i, knownHostsFile: /h}", machine.Host{SSH: &machine.SSHFiles{IdentityFile: "/i", KnownHostsFile: "/h"}},
		},
		"qemu+tcp://127.0.0.1/system":   {},
		"qemu+tcp://[::1]:16509/system": {},
		"qemu+tcp://localhost/system":   {},
	} {
		t.Run(endpoint, func(t *testing.T) {
			t.Parallel()
			got, err := Parse([]byte(entry("driver: libvirt", "endpoint: '"+endpoint+"'", file.files)))
			if err != nil {
				t.Fatal(err)
			}
			want := file.want
			want.Name, want.Driver, want.Endpoint, want.MaxCalls = "a", machine.DriverLibvirt, endpoint, machine.DefaultMaxCalls
			if diff := gocmp.Diff([]machine.Host{want}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPasswordIsNotRepeated(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for name, endpoint := range map[string]string{
		"in its place":           "ssh://ops:" + secret + "@rack-1",
		"in what is not a URL":   "ssh://ops:" + secret + " @rack-1",
		"with an unknown scheme": "http://ops:" + secret + "@rack-1",
		"without a scheme":       "ops:" + secret + "@rack-1",
		"with a port of letters": "tcp://ops:" + secret + "@rack-1:port",
		"of libvirt":             "qemu+ssh://ops:" + secret + "@rack-1/system",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse([]byte(entry("endpoint: '" + endpoint + "'")))
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("the error is %q", strings.ReplaceAll(fmt.Sprint(err), secret, "(the password)"))
			}
		})
	}
}

func TestDefaultFromDockerVariables(t *testing.T) {
	t.Parallel()
	files := func(directory string) *machine.TLSFiles {
		return &machine.TLSFiles{CA: directory + "/ca.pem", Cert: directory + "/cert.pem", Key: directory + "/key.pem"}
	}
	for name, c := range map[string]struct {
		env      map[string]string
		endpoint string
		tls      *machine.TLSFiles
	}{
		"the local socket by default": {nil, "unix:///var/run/docker.sock", nil},
		"a socket elsewhere":          {map[string]string{"DOCKER_HOST": "unix:///run/d.sock"}, "unix:///run/d.sock", nil},
		"TCP":                         {map[string]string{"DOCKER_HOST": "tcp://127.0.0.1:1234"}, "tcp://127.0.0.1:1234", nil},
		"TCP without port":            {map[string]string{"DOCKER_HOST": "tcp://rack-1"}, "tcp://rack-1:2375", nil},
		"no scheme":                   {map[string]string{"DOCKER_HOST": "rack-1:99"}, "tcp://rack-1:99", nil},
		"no scheme and no port":       {map[string]string{"DOCKER_HOST": "rack-1"}, "tcp://rack-1:2375", nil},
		"IPv6 without port":           {map[string]string{"DOCKER_HOST": "tcp://[::1]"}, "tcp://[::1]:2375", nil},
		"SSH":                         {map[string]string{"DOCKER_HOST": "ssh://ops@rack-1"}, "ssh://ops@rack-1", nil},
		"a path alone is not TLS":     {map[string]string{"DOCKER_HOST": "tcp://a:1", "DOCKER_CERT_PATH": "/c"}, "tcp://a:1", nil},
		"a socket has no TLS":         {map[string]string{"DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": "/c"}, "unix:///var/run/docker.sock", nil},
		"TLS in the home directory":   {map[string]string{"DOCKER_HOST": "a:1", "DOCKER_TLS_VERIFY": "1", "HOME": "/home/ops"}, "tcp://a:1", files("/home/ops/.docker")},
		"TLS is on for any value":     {map[string]string{"DOCKER_HOST": "a:1", "DOCKER_TLS_VERIFY": "0", "DOCKER_CERT_PATH": "/c"}, "tcp://a:1", files("/c")},
		"TLS as in the manual": {
			map[string]string{"DOCKER_HOST": "tcp://rack-1", "DOCKER_TLS_VERIFY": "1", "DOCKER_TLS": "1", "DOCKER_CERT_PATH": "/etc/docker-certs"},
			"tcp://rack-1:2376", files("/etc/docker-certs"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Default(machine.DriverDocker, func(name string) string { return c.env[name] })
			if err != nil {
				t.Fatal(err)
			}
			want := []machine.Host{{
				Name: "default", Driver: machine.DriverDocker, Endpoint: c.endpoint, TLS: c.tls, MaxCalls: machine.DefaultMaxCalls,
				Assumed: c.env["DOCKER_HOST"] == "", // a Pod has no socket, and nobody has asked for one
			}}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDefaultOfOtherDrivers(t *testing.T) {
	t.Parallel()
	for driver, endpoint := range map[string]string{
		machine.DriverLibvirt: "qemu:///system", machine.DriverSimulated: "simulated://",
	} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			got, err := Default(driver, func(string) string { return "not read" })
			if err != nil {
				t.Fatal(err)
			}
			want := []machine.Host{{Name: "default", Driver: driver, Endpoint: endpoint, MaxCalls: machine.DefaultMaxCalls}}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDefaultRefusesDockerVariables(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"TLS without verification": {map[string]string{"DOCKER_TLS": "1"}, "set DOCKER_TLS_VERIFY=1"},
		"another protocol":         {map[string]string{"DOCKER_HOST": "npipe:////./pipe/docker"}, `endpoint begins with "npipe://"`},
		"a relative path": {
			map[string]string{"DOCKER_HOST": "a:1", "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": "certs"}, "must be an absolute path",
		},
		"no home directory": {map[string]string{"DOCKER_HOST": "a:1", "DOCKER_TLS_VERIFY": "1"}, "must be an absolute path"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Default(machine.DriverDocker, func(name string) string { return c.env[name] })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want in it %q", err, c.want)
			}
		})
	}
}

// FuzzParse expects that every file is either refused with an error or yields valid hosts.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		fullHosts, "", "hosts: []", "hosts: [{}]", "hosts: null", "hosts: [null]", entry("capacity: {cpu: 1e3}"),
		entry("capacity: {memory: 0x10}"), entry("tls: {}"), "{hosts: [{name: &a b, driver: *a}]}", entry("maxCalls: 1.5"),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		hosts, err := Parse(data)
		if err != nil {
			if len(hosts) > 0 {
				t.Fatalf("hosts and an error: %+v, %v", hosts, err)
			}
			return
		}
		if len(hosts) == 0 || len(hosts) > maxHosts {
			t.Fatalf("%d hosts were accepted", len(hosts))
		}
		names := map[string]bool{}
		for _, host := range hosts {
			if problems := validate(host); len(problems) > 0 || names[host.Name] {
				t.Fatalf("%+v was accepted: %v", host, problems)
			}
			if host.Capacity.MilliCPU < 0 || host.Capacity.MemoryBytes < 0 || host.Capacity.RootDiskBytes < 0 {
				t.Fatalf("a host has a negative capacity: %+v", host)
			}
			names[host.Name] = true
		}
		if !slices.IsSortedFunc(hosts, func(a, b machine.Host) int { return cmp.Compare(a.Name, b.Name) }) {
			t.Fatalf("not sorted: %+v", hosts)
		}
	})
}
