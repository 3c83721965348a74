// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
)

// defaultGrace is how long a machine may take to turn itself off.
const defaultGrace = 30 * time.Second

// secrets are the contents of the Secrets that a spec names.
type secrets struct {
	// registry authenticates at the image's registry, nil for none.
	registry *machine.RegistryAuth
	// userData of a guest.
	userData string
}

// identity returns whose machine it is.
func identity(vm *cloudnativev1alpha1.VirtualMachine, installation string) machine.Identity {
	return machine.Identity{Installation: installation, UID: string(kube.MachineUIDOf(vm)), Namespace: vm.Namespace, Name: vm.Name}
}

// specOf translates the spec for a driver, with all defaults.
func specOf(vm *cloudnativev1alpha1.VirtualMachine, installation, driver string, held secrets) machine.Spec {
	spec := machine.Spec{
		Identity:  identity(vm, installation),
		Resources: resourcesOf(vm.Spec.Resource, driver),
		Image: machine.Image{
			Name:       vm.Spec.Image.Name,
			PullPolicy: machine.PullPolicy(cmp.Or(vm.Spec.Image.PullPolicy, cloudnativev1alpha1.PullIfNotPresent)),
			Registry:   held.registry,
		},
		Command: vm.Spec.Command,
		Args:    vm.Spec.Args,
	}
	if driver != machine.DriverLibvirt {
		spec.Image.Name = cmp.Or(spec.Image.Name, cloudnativev1alpha1.DefaultImage)
	}
	for _, variable := range vm.Spec.Env {
		spec.Env = append(spec.Env, machine.EnvVar(variable))
	}
	for _, port := range vm.Spec.Ports {
		spec.Ports = append(spec.Ports, portOf(port))
	}
	if boot := vm.Spec.Boot; boot != nil {
		spec.Boot = machine.Boot(*boot)
	}
	for _, disk := range vm.Spec.Disks {
		made := machine.Disk{Name: disk.Name, Source: disk.Source, ReadOnly: disk.ReadOnly}
		if disk.Size != nil {
			made.SizeBytes = disk.Size.Value()
		}
		spec.Disks = append(spec.Disks, made)
	}
	for _, network := range vm.Spec.Networks {
		spec.Networks = append(spec.Networks, machine.Network{
			Name: network.Name, Type: machine.NetworkType(cmp.Or(network.Type, cloudnativev1alpha1.NetworkUser)),
			Source: network.Source, MAC: network.MAC,
		})
	}
	spec.CloudInit = cloudInitOf(vm.Spec.CloudInit, held.userData)
	spec.Hash = hashOf(spec)
	return spec
}

func portOf(port cloudnativev1alpha1.Port) machine.Port {
	return machine.Port{
		Port: uint16(port.Port), HostPort: uint16(port.HostPort), //nolint:gosec // because the schema bounds both
		HostIP: port.HostIP, Protocol: machine.Protocol(cmp.Or(port.Protocol, cloudnativev1alpha1.ProtocolTCP)),
	}
}

// cloudInitOf returns what the guest gets at its first boot: the user's data, or data that authorizes the keys.
func cloudInitOf(wanted *cloudnativev1alpha1.CloudInit, secret string) machine.CloudInit {
	if wanted == nil {
		return machine.CloudInit{}
	}
	data := cmp.Or(wanted.UserData, secret)
	if data == "" && len(wanted.SSHAuthorizedKeys) > 0 {
		var config strings.Builder
		config.WriteString("#cloud-config\nssh_authorized_keys:\n")
		for _, key := range wanted.SSHAuthorizedKeys {
			// Every JSON string is a YAML string.
			quoted, _ := json.Marshal(key) //nolint:errchkjson // because a string can always be written
			config.WriteString("- " + string(quoted) + "\n")
		}
		data = config.String()
	}
	return machine.CloudInit{UserData: data, NetworkData: wanted.NetworkData}
}

// resourcesOf returns the size, with CPU to the thousandth and memory to the byte. A container has no root disk; the condition RootDiskRefused
// tells those who ask for one.
func resourcesOf(list corev1.ResourceList, driver string) machine.Resources {
	size := machine.Resources{
		MilliCPU:    list.Cpu().MilliValue(),
		MemoryBytes: list.Memory().Value(),
	}
	if disk, ok := list[cloudnativev1alpha1.ResourceRootDisk]; ok && driver != machine.DriverDocker {
		size.RootDiskBytes = disk.Value()
	}
	return size
}

// sameSize reports whether a machine that has one size is as another one wants it. Who wants no root disk of a certain size takes any.
func sameSize(have, want machine.Resources) bool {
	want.RootDiskBytes = cmp.Or(want.RootDiskBytes, have.RootDiskBytes)
	return have == want
}

// powerOffOf returns how the machine is turned off.
func powerOffOf(vm *cloudnativev1alpha1.VirtualMachine) machine.PowerOff {
	how := machine.PowerOff{
		Mode:  machine.PowerOffMode(cmp.Or(vm.Spec.PowerOff.Mode, cloudnativev1alpha1.PowerOffTrySoft)),
		Grace: defaultGrace,
	}
	if seconds := vm.Spec.PowerOff.GracePeriodSeconds; seconds != nil {
		how.Grace = time.Duration(*seconds) * time.Second
	}
	return how
}

// hashOf returns the hash of everything that cannot be changed in place. Some of that is secret, and the hash can be read on the
// host: the UID in it keeps equal secrets from having equal hashes.
func hashOf(spec machine.Spec) string {
	raw, _ := json.Marshal(struct { //nolint:errchkjson,musttag // because strings and numbers can always be written, and nobody reads them back
		UID       string            `json:"uid"`
		Image     string            `json:"image"`
		Command   []string          `json:"command"`
		Args      []string          `json:"args"`
		Env       []machine.EnvVar  `json:"env"`
		Ports     []machine.Port    `json:"ports"`
		Boot      machine.Boot      `json:"boot"`
		Disks     []machine.Disk    `json:"disks"`
		Networks  []machine.Network `json:"networks"`
		CloudInit machine.CloudInit `json:"cloudInit"`
	}{
		spec.UID, spec.Image.Name, spec.Command, spec.Args, spec.Env, spec.Ports, spec.Boot, spec.Disks, spec.Networks, spec.CloudInit,
	})
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// strategyOf returns the run strategy or its default.
func strategyOf(vm *cloudnativev1alpha1.VirtualMachine) cloudnativev1alpha1.RunStrategy {
	return cmp.Or(vm.Spec.RunStrategy, cloudnativev1alpha1.RunAlways)
}

// starts reports whether the strategy ever starts a machine that is off.
func starts(strategy cloudnativev1alpha1.RunStrategy) bool {
	return strategy != cloudnativev1alpha1.RunHalted && strategy != cloudnativev1alpha1.RunSuspended
}

// updatePolicyOf returns the update policy or its default.
func updatePolicyOf(vm *cloudnativev1alpha1.VirtualMachine) cloudnativev1alpha1.UpdatePolicy {
	return cmp.Or(vm.Spec.UpdatePolicy, cloudnativev1alpha1.UpdateLive)
}
