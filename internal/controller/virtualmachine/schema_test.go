// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// vm is a manifest with the spec.
func vm(spec string) string {
	return "{apiVersion: cloudnative.tw/v1alpha1, kind: VirtualMachine, metadata: {name: test-vm}, spec: " + spec + "}"
}

// manyValues returns variables with the largest value that one can have.
func manyValues(n int) string {
	var list strings.Builder
	for i := range n {
		fmt.Fprintf(&list, `{name: "a%d", value: "%s"},`, i, strings.Repeat("x", 32768))
	}
	return list.String()
}

func TestSchema(t *testing.T) {
	t.Parallel()
	size := "resource: {cpu: 2, memory: 4G}"
	with := func(more string) string { return vm("{" + size + ", " + more + "}") }
	testkit.CheckManifests(t, map[string]testkit.Manifest{
		"the article's machine": {YAML: vm("{" + size + "}")},
		"the article's machine with the finalizer of a user": {
			YAML: `{apiVersion: cloudnative.tw/v1alpha1, kind: VirtualMachine, metadata: {name: test-vm-finalizer, finalizers: [finalizer.cloudnative.tw]}, spec: {resource: {cpu: 2, memory: 4G}}}`,
		},
		"the article's first sketch, with a disk and an action": {
			YAML: vm(`{action: active, resource: {cpu: 2, memory: 4G, rootDisk: 40G}}`),
		},
		"an unknown action":        {YAML: with(`action: stopped`), Refused: `Unsupported value: "stopped"`},
		"an action and a strategy": {YAML: with(`action: active, runStrategy: Once`)},
		"an action for a machine that is off": {
			YAML: with(`action: active, runStrategy: Halted`), Refused: "action active asks for a machine that runs",
		},
		"a machine that is suspended": {YAML: with(`runStrategy: Suspended`)},
		"an action for a machine that is suspended": {
			YAML: with(`action: active, runStrategy: Suspended`), Refused: "runStrategy Suspended for one that does not: remove action",
		},
		"thousandths of a processor": {YAML: vm(`{resource: {cpu: 500m, memory: 512Mi}}`)},
		"sizes that are not limited": {YAML: vm(`{resource: {}}`)},
		"no resource":                {YAML: vm(`{}`), Refused: "spec.resource: Required value"},
		"an unknown size":            {YAML: vm(`{resource: {cpu: 1, gpu: 1}}`), Refused: "resource accepts only cpu, memory and rootDisk"},
		"no processor":               {YAML: vm(`{resource: {cpu: 0}}`), Refused: "every size must be greater than 0"},
		"less than no memory":        {YAML: vm(`{resource: {memory: -1}}`), Refused: "every size must be greater than 0"},
		"too many processors":        {YAML: vm(`{resource: {cpu: 1025}}`), Refused: "cpu must be at most 1024"},
		"too much memory":            {YAML: vm(`{resource: {memory: 2Pi}}`), Refused: "memory and rootDisk must be at most 1Pi"},
		"values that are large":      {YAML: with(`env: [` + manyValues(4) + `]`)},
		"values that fill the manager's memory": {
			YAML: with(`env: [` + manyValues(5) + `]`), Refused: "the values of env must have at most 131072 characters in all",
		},
		"a program as a command": {
			YAML: with(`command: [` + strings.Repeat(`"`+strings.Repeat("x", 4096)+`",`, 17) + `]`), Refused: "command must have at most 65536 characters in all",
		},
		"a file as arguments": {
			YAML: with(`args: [` + strings.Repeat(`"`+strings.Repeat("x", 4096)+`",`, 17) + `]`), Refused: "args must have at most 65536 characters in all",
		},
		"a size that is no number":     {YAML: vm(`{resource: {cpu: two}}`), Refused: "spec.resource.cpu"},
		"an unknown driver":            {YAML: with(`driver: xen`), Refused: `Unsupported value: "xen"`},
		"an unknown field":             {YAML: with(`flavor: small`), Refused: `unknown field "spec.flavor"`},
		"an unknown strategy":          {YAML: with(`runStrategy: Manual`), Refused: `Unsupported value: "Manual"`},
		"a bad host":                   {YAML: with(`host: A_B`), Refused: "spec.host"},
		"a time to restart at":         {YAML: with(`restartAt: "2026-11-21T00:00:00Z"`)},
		"a restart at no time":         {YAML: with(`restartAt: soon`), Refused: "spec.restartAt"},
		"a grace":                      {YAML: with(`powerOff: {mode: Soft, gracePeriodSeconds: 0}`)},
		"a negative grace":             {YAML: with(`powerOff: {gracePeriodSeconds: -1}`), Refused: "spec.powerOff.gracePeriodSeconds"},
		"an endless grace":             {YAML: with(`powerOff: {gracePeriodSeconds: 86400}`), Refused: "spec.powerOff.gracePeriodSeconds"},
		"an image with all it can say": {YAML: with(`image: {name: "registry.example/a:1", pullPolicy: Always, pullSecret: {name: reg}}`)},
		"an empty pull secret":         {YAML: with(`image: {name: nginx, pullSecret: {}}`)},
		"an unknown pull policy":       {YAML: with(`image: {pullPolicy: Sometimes}`), Refused: `Unsupported value: "Sometimes"`},
		"a container's fields":         {YAML: with(`driver: docker, command: [sh], args: [-c, "true"], env: [{name: A, value: b}], ports: [{name: http, port: 80, hostPort: 8080, hostIP: "127.0.0.1", protocol: TCP}]`)},
		"a container's fields with libvirt": {
			YAML: with(`driver: libvirt, command: [sh]`), Refused: "command, args, env and ports are for containers",
		},
		"a guest's fields": {
			YAML: with(`driver: libvirt, boot: {kernel: /k, initrd: /i, cmdline: quiet}, disks: [{name: data, size: 10Gi}, {name: iso, source: default/x, readOnly: true}], networks: [{name: a}, {name: b, type: bridge, source: br0, mac: "52:54:00:12:34:56"}], cloudInit: {userDataSecretRef: {name: seed}}`),
		},
		"a guest's fields with docker": {
			YAML: with(`driver: docker, boot: {kernel: /k}`), Refused: "boot, disks, networks and cloudInit are for guests",
		},
		"a port twice":               {YAML: with(`ports: [{port: 80}, {port: 80, protocol: TCP}]`), Refused: "a port can be published only once"},
		"a port for both protocols":  {YAML: with(`ports: [{port: 53}, {port: 53, protocol: UDP}]`)},
		"an invalid port":            {YAML: with(`ports: [{port: 0}]`), Refused: "spec.ports[0].port"},
		"an invalid address":         {YAML: with(`ports: [{port: 80, hostIP: localhost}]`), Refused: "hostIP must be an IP address"},
		"a variable twice":           {YAML: with(`env: [{name: A}, {name: A}]`), Refused: "Duplicate value"},
		"a variable with =":          {YAML: with(`env: [{name: "A=B"}]`), Refused: "spec.env[0].name"},
		"an initrd without a kernel": {YAML: with(`boot: {initrd: /i}`), Refused: "spec.boot.kernel: Required value"},
		"a disk with size and source": {
			YAML: with(`disks: [{name: a, size: 1Gi, source: x/y}]`), Refused: "a disk needs either size or source, not both",
		},
		"a disk with neither":         {YAML: with(`disks: [{name: a}]`), Refused: "a disk needs either size or source, not both"},
		"a bridge without a name":     {YAML: with(`networks: [{name: a, type: bridge}]`), Refused: "source is required for the types network and bridge"},
		"a user network with a name":  {YAML: with(`networks: [{name: a, source: br0}]`), Refused: "source is required for the types network and bridge"},
		"an invalid MAC":              {YAML: with(`networks: [{name: a, mac: xyz}]`), Refused: "spec.networks[0].mac"},
		"user data twice":             {YAML: with(`cloudInit: {userData: a, userDataSecretRef: {name: b}}`), Refused: "set either userData or userDataSecretRef, not both"},
		"keys alone":                  {YAML: with(`cloudInit: {sshAuthorizedKeys: [ssh-ed25519 AAAA]}`)},
		"keys and user data":          {YAML: with(`cloudInit: {userData: a, sshAuthorizedKeys: [ssh-ed25519 AAAA]}`), Refused: "sshAuthorizedKeys cannot be combined"},
		"a key of two lines":          {YAML: with(`cloudInit: {sshAuthorizedKeys: ["a\nruncmd: b"]}`), Refused: "sshAuthorizedKeys"},
		"too much user data":          {YAML: with(`cloudInit: {userData: ` + strings.Repeat("x", 70000) + `}`), Refused: "Too long"},
		"an unknown update policy":    {YAML: with(`updatePolicy: Never`), Refused: `Unsupported value: "Never"`},
		"an unknown deletion policy":  {YAML: with(`deletionPolicy: Orphan`), Refused: `Unsupported value: "Orphan"`},
		"a machine without its fault": {YAML: with(`updatePolicy: Restart, deletionPolicy: Retain, runStrategy: RerunOnFailure`)},
	})
}

// TestSchemaKeepsTheSpec is about sizes in particular: cpu: 2 and memory: 4G have to come back as they were written.
func TestSchemaKeepsTheSpec(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	machine := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(vm(`{resource: {cpu: 2, memory: 4G}}`)), &machine.Object); err != nil {
		t.Fatal(err)
	}
	machine.SetNamespace(h.Namespace(t))
	h.Create(t, machine)
	want := map[string]any{"resource": map[string]any{"cpu": int64(2), "memory": "4G"}}
	if diff := cmp.Diff(want, machine.Object["spec"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestImmutables(t *testing.T) {
	t.Parallel()
	type change = func(*cloudnativev1alpha1.VirtualMachine)
	tests := map[string]struct {
		from    change
		placed  string
		to      change
		refused string
	}{
		"a driver cannot be added":   {to: func(v *cloudnativev1alpha1.VirtualMachine) { v.Spec.Driver = "docker" }, refused: "driver is immutable"},
		"a driver cannot be taken":   {from: func(v *cloudnativev1alpha1.VirtualMachine) { v.Spec.Driver = "docker" }, to: func(v *cloudnativev1alpha1.VirtualMachine) { v.Spec.Driver = "" }, refused: "driver is immutable"},
		"a driver cannot be changed": {from: func(v *cloudnativev1alpha1.VirtualMachine) { v.Spec.Driver = "docker" }, to: func(v *cloudnativev1alpha1.VirtualMachine) { v.Spec.Driver = "libvirt" }, refused: "driver is immutable"},
		"a host can be changed before there is a machine": {
			from: func(v *cloudnativev1alpha1.VirtualMachine) { v.Spec.Host = "a" },
			to:   func(v *cloudnativev1alpha1.VirtualMachine) { v.Spec.Host = "b" },
		},
		"a host cannot be changed afterwards": {
			from: func(v *cloudnativev1alpha1.VirtualMachine) { v.Spec.Host = "a" }, placed: "a",
			to:      func(v *cloudnativev1alpha1.VirtualMachine) { v.Spec.Host = "b" },
			refused: "spec.host cannot change once the machine has a host",
		},
		"a host cannot be taken afterwards": {
			from: func(v *cloudnativev1alpha1.VirtualMachine) { v.Spec.Host = "a" }, placed: "a",
			to:      func(v *cloudnativev1alpha1.VirtualMachine) { v.Spec.Host = "" },
			refused: "spec.host cannot change once the machine has a host",
		},
		"another host cannot be named afterwards": {
			placed: "a", to: func(v *cloudnativev1alpha1.VirtualMachine) { v.Spec.Host = "b" },
			refused: "spec.host cannot change once the machine has a host",
		},
		"the host that it has can be named": {placed: "a", to: func(v *cloudnativev1alpha1.VirtualMachine) { v.Spec.Host = "a" }},
		// The spec was changed while the machine was placed. Not even its finalizer could be removed.
		"everything else can be changed, whatever host the spec names": {
			from: func(v *cloudnativev1alpha1.VirtualMachine) { v.Spec.Host = "b" }, placed: "a",
			to: func(v *cloudnativev1alpha1.VirtualMachine) { v.Finalizers = []string{cloudnativev1alpha1.Finalizer} },
		},
		"everything else can be changed": {
			placed: "a", to: func(v *cloudnativev1alpha1.VirtualMachine) {
				v.Spec.Image.Name, v.Spec.RunStrategy = "busybox", cloudnativev1alpha1.RunHalted
			},
		},
	}
	h := testkit.New(t)
	namespace := h.Namespace(t)
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			machine := aMachine(test.from)
			machine.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, GenerateName: "vm-"}
			h.Create(t, machine)
			if test.placed != "" {
				testkit.EditStatus(t, h, machine, func(v *cloudnativev1alpha1.VirtualMachine) {
					v.Status.Server = &cloudnativev1alpha1.Server{Host: test.placed}
				})
			}
			if test.to != nil {
				test.to(machine)
			}
			err := h.Live.Update(t.Context(), machine, client.DryRunAll)
			switch {
			case test.refused == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)):
				t.Errorf("got %v, want a refusal with %q", err, test.refused)
			}
		})
	}
}

func TestTheSamplesAreAccepted(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(testkit.Root(), "config", "samples", "virtualmachine.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	manifests := map[string]testkit.Manifest{}
	for document := range strings.SplitSeq(string(raw), "\n---\n") {
		manifests[document] = testkit.Manifest{YAML: document}
	}
	testkit.CheckManifests(t, manifests)
}

// TestNamesAndColumnsAreTheArticles reads what the API server serves.
func TestNamesAndColumnsAreTheArticles(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	served := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "virtualmachines.cloudnative.tw"},
	}}
	if !h.Get(t, served) {
		t.Fatal("the API server does not have the kind")
	}
	var crd struct {
		Status struct {
			Names map[string]any `json:"acceptedNames"`
		} `json:"status"`
		Spec struct {
			Versions []struct {
				Columns []struct {
					Name     string `json:"name"`
					Type     string `json:"type"`
					JSONPath string `json:"jsonPath"`
					Priority int    `json:"priority"`
				} `json:"additionalPrinterColumns"`
			} `json:"versions"`
		} `json:"spec"`
	}
	raw, err := served.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(raw, &crd); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"kind": "VirtualMachine", "listKind": "VirtualMachineList", "plural": "virtualmachines", "singular": "virtualmachine",
		"shortNames": []any{"vm", "vms"}, "categories": []any{"windlass"},
	}
	if diff := cmp.Diff(want, crd.Status.Names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	var columns []string
	for _, column := range crd.Spec.Versions[0].Columns {
		if column.Priority == 0 && column.Name != "Ready" && column.Name != "Reason" { // which the articles do not have
			columns = append(columns, column.Name+" "+column.Type+" "+column.JSONPath)
		}
	}
	if diff := cmp.Diff([]string{
		"Status string .status.phase", "CPU number .status.server.usage.cpu", "Memory number .status.server.usage.memory",
		"Age date .metadata.creationTimestamp",
	}, columns); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}
