// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
	"github.com/windlass-operator/windlass/internal/machine/libvirt/libvirttest"
)

// virtualMachineScenarios are played on a Docker Engine and on simulated hosts. Simulated machines are in the memory of the manager: they do
// not survive it, so that a run in which it ends has another end.
func virtualMachineScenarios() []scenario {
	var all []scenario
	for _, sc := range machineScenarios() {
		sc.slow = true
		onEngine, simulated := sc, sc
		onEngine.name, onEngine.setUp, onEngine.args = "virtualmachine/docker-"+sc.name, onDocker, []string{"--usage-in-status=off"}
		onEngine.missing = dockertest.Missing()
		all = append(all, onEngine)
		if slices.ContainsFunc(sc.steps, func(s step) bool { return s.name == restart().name }) {
			continue
		}
		simulated.name, simulated.volatile = "virtualmachine/simulated-"+sc.name, true
		simulated.args = []string{"--vm-driver=" + machine.DriverSimulated, "--usage-in-status=off"}
		all = append(all, simulated)
	}
	for _, sc := range libvirtScenarios() {
		sc.name, sc.setUp, sc.slow = "virtualmachine/libvirt-"+sc.name, onLibvirt, true
		sc.args, sc.missing = []string{"--usage-in-status=off"}, libvirttest.Missing()
		all = append(all, sc)
	}
	return all
}

// libvirtScenarios are scenarios of machines with disks.
func libvirtScenarios() []scenario {
	const web = "virtualmachines/default/web"
	active := until(web, "Ready=True", ".status.phase=Active")
	made := apply(guest("web"))
	there := []step{made, active}
	return []scenario{
		{name: "created", steps: there},
		{name: "turned-off-and-on", halts: true, before: there, steps: []step{
			merge(web, `{"spec":{"runStrategy":"Halted"}}`),
			until(web, "Ready=True", ".status.phase=Stopped"), merge(web, `{"spec":{"runStrategy":"Always"}}`), active,
		}},
		{name: "found-again", halts: true, before: there, steps: []step{
			restart(), merge(web, `{"spec":{"runStrategy":"Halted"}}`), until(web, "Ready=True", ".status.phase=Stopped"),
		}},
		{name: "deleted", undone: true, steps: []step{made, active, remove(web), gone(web)}},
		{name: "deleted-at-once", undone: true, steps: []step{made, until(web, ".metadata.finalizers#=1"), remove(web), gone(web)}},
		{name: "deleted-together", undone: true, steps: []step{
			apply(guest("web"), guest("app")), active, until("virtualmachines/default/app", "Ready=True"),
			remove(web, "virtualmachines/default/app"), gone(web, "virtualmachines/default/app"),
		}},
		{name: "retained", before: []step{apply(guest("web", "deletionPolicy: Retain")), active}, steps: []step{remove(web), gone(web)}},
		{name: "created-again", repeats: true, before: there, steps: []step{remove(web), gone(web), made, active}},
	}
}

// guest returns a machine with disks that is turned off at once, with more lines of its spec.
func guest(name string, more ...string) string {
	manifest := fmt.Sprintf(`apiVersion: cloudnative.tw/v1alpha1
kind: VirtualMachine
metadata: {name: %s, namespace: default}
spec:
  image: {name: %s/%s}
  resource: {cpu: "1", memory: 64Mi, rootDisk: 2Gi}
  disks:
  - {name: data, size: 1Mi}
  powerOff: {mode: Hard}
`, name, imagePool, baseImage)
	return manifest + indented(more)
}

// machineScenarios are the scenarios of any driver.
func machineScenarios() []scenario {
	const web = "virtualmachines/default/web"
	active := until(web, "Ready=True", ".status.phase=Active")
	there := []step{apply(virtualMachine("web")), active}
	return []scenario{
		{name: "created", steps: there},
		{name: "resized", before: there, steps: []step{
			merge(web, `{"spec":{"resource":{"cpu":"200m","memory":"96Mi"}}}`),
			until(web, "Ready=True", "ResourcesSynced=True"),
		}},
		{name: "replaced", before: []step{apply(virtualMachine("web", "updatePolicy: Restart")), active}, steps: []step{
			merge(web, `{"spec":{"env":[{"name":"COLOUR","value":"red"}]}}`),
			until(web, "Ready=True", ".status.phase=Active", "RestartRequired=False"),
		}},
		{name: "turned-off-and-on", halts: true, before: there, steps: []step{
			merge(web, `{"spec":{"runStrategy":"Halted"}}`),
			until(web, "Ready=True", ".status.phase=Stopped"), merge(web, `{"spec":{"runStrategy":"Always"}}`), active,
		}},
		{name: "suspended-and-resumed", halts: true, suspends: true, before: there, steps: []step{
			merge(web, `{"spec":{"runStrategy":"Suspended"}}`),
			until(web, "Ready=True", ".status.phase=Suspended"), merge(web, `{"spec":{"runStrategy":"Always"}}`), active,
		}},
		{name: "restarted", dated: true, before: there, steps: []step{restartNow(web), untilRestarted(web)}},
		{name: "found-again", before: there, steps: []step{
			restart(), merge(web, `{"spec":{"resource":{"cpu":"200m"}}}`), until(web, "Ready=True", "ResourcesSynced=True"),
		}},
		{name: "paused", halts: true, before: there, steps: []step{
			merge(web, `{"metadata":{"annotations":{"windlass.io/paused":"true"}},"spec":{"runStrategy":"Halted"}}`),
			until(web, "Paused=True"), merge(web, `{"metadata":{"annotations":{"windlass.io/paused":null}}}`), until(web, "Ready=True", ".status.phase=Stopped"),
		}},
		{name: "deleted", undone: true, steps: []step{apply(virtualMachine("web")), active, remove(web), gone(web)}},
		{name: "retained", before: []step{apply(virtualMachine("web", "deletionPolicy: Retain")), active}, steps: []step{remove(web), gone(web)}},
		{name: "deleted-together", undone: true, steps: []step{
			apply(virtualMachine("web"), virtualMachine("app"), virtualMachine("db")), active,
			until("virtualmachines/default/app", "Ready=True"), until("virtualmachines/default/db", "Ready=True"),
			remove(web, "virtualmachines/default/app", "virtualmachines/default/db"), gone(web, "virtualmachines/default/app", "virtualmachines/default/db"),
		}},
		{name: "deleted-at-once", undone: true, hasty: true, steps: []step{apply(virtualMachine("web")), until(web, ".metadata.finalizers#=1"), remove(web), gone(web)}},
		{name: "created-again", repeats: true, before: there, steps: []step{remove(web), gone(web), apply(virtualMachine("web")), active}},
	}
}

// virtualMachine returns a machine that is turned off at once, with more lines of its spec.
func virtualMachine(name string, more ...string) string {
	manifest := fmt.Sprintf(`apiVersion: cloudnative.tw/v1alpha1
kind: VirtualMachine
metadata: {name: %s, namespace: default}
spec:
  image: {name: %q}
  resource: {cpu: 100m, memory: 64Mi}
  powerOff: {mode: Hard}
`, name, imageWithVolume)
	return manifest + indented(more)
}

// untilRestarted waits until a machine was restarted and is ready. If its host was killed meanwhile, it was started once more.
func untilRestarted(ref string) step {
	return step{"wait until " + ref + " was restarted", func(ctx context.Context, s *stage) error {
		return s.await(ctx, func(ctx context.Context) error {
			object, err := s.get(ctx, ref)
			if err != nil {
				return err
			}
			ready, count := lookUp(object, "Ready"), lookUp(object, ".status.restartCount")
			if ready != "True" || count == "" || count == "0" {
				return fmt.Errorf("%s: Ready is %q after %q restarts, want \"True\" after one", ref, ready, count)
			}
			return nil
		})
	}}
}

// restartNow asks for a restart. Objects tell times in whole seconds, so one must have passed since the machine was started.
func restartNow(ref string) step {
	return step{"restart " + ref, func(ctx context.Context, s *stage) error {
		var at time.Time
		err := s.await(ctx, func(ctx context.Context) error {
			object, err := s.get(ctx, ref)
			if err != nil {
				return err
			}
			started, err := time.Parse(time.RFC3339, lookUp(object, ".status.server.startedAt"))
			if err != nil {
				return err
			}
			if at = time.Now().Truncate(time.Second); !at.After(started) {
				return fmt.Errorf("%s was started within this second", ref)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return s.patch(ctx, ref, fmt.Sprintf(`{"spec":{"restartAt":%q}}`, at.UTC().Format(time.RFC3339)))
	}}
}
