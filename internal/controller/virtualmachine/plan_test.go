// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/machine/operation"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// sees returns what a pass sees of the article's machine: a running container, changed as asked.
func sees(vm *cloudnativev1alpha1.VirtualMachine, change ...func(*observation)) observation {
	spec := specOf(vm, "installation", machine.DriverDocker, secrets{})
	seen := observation{
		observed: true, looked: true, at: kube.Placement{Driver: machine.DriverDocker, Host: "a"}, spec: spec,
		health: fleet.Health{Probed: true, Info: machine.Info{
			Driver: machine.DriverDocker, Capabilities: machine.Capabilities{Containers: true, LiveCPU: true, LiveMemory: true},
		}},
		found: &machine.Observed{
			Identity: spec.Identity, ID: "x", State: machine.StateRunning, SpecHash: spec.Hash, Resources: spec.Resources,
			StartedAt: noon.Add(-time.Hour),
		},
		answered: noon,
	}
	for _, c := range change {
		c(&seen)
	}
	return seen
}

func state(s machine.State) func(*observation) { return func(o *observation) { o.found.State = s } }

// planned is what a test of a plan looks at.
type planned struct {
	Steps    []operation.Step
	Phase    cloudnativev1alpha1.Phase
	Reason   string
	Canceled bool
}

func plannedOf(d decision) planned {
	out := planned{Phase: d.phase, Reason: d.outcome.Reason(), Canceled: d.cancel}
	if d.next != nil {
		out.Steps = d.next.Steps
	}
	return out
}

func TestPlan(t *testing.T) {
	t.Parallel()
	none := func(o *observation) { o.found = nil }
	other := func(o *observation) { o.found.SpecHash = "another" }
	small := func(o *observation) { o.found.Resources.MilliCPU = 1 }
	guest := func(o *observation) { o.health.Info.Capabilities = machine.Capabilities{Guests: true} }
	ended := func(reason string, err error, steps ...operation.Step) func(*observation) {
		return func(o *observation) {
			of := operation.Operation{Reason: reason, Steps: steps, Generation: 1}
			o.op = &operation.Progress{Operation: of, At: steps[len(steps)-1], Done: true, Began: noon, Err: err}
		}
	}
	goes := func(generation int64, at operation.Step) func(*observation) {
		return func(o *observation) {
			o.op = &operation.Progress{
				Operation: operation.Operation{Reason: "Provisioning", Generation: generation, Steps: []operation.Step{at}}, At: at, Began: noon,
			}
		}
	}
	restart := func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Spec.RestartAt = new(metav1.NewTime(noon)) }
	waits := func(reason string) vmEdit {
		return func(vm *cloudnativev1alpha1.VirtualMachine) {
			vm.Status.StartFailure = &cloudnativev1alpha1.StartFailure{
				Count: 1, Reason: reason, RetryAfter: new(metav1.NewTime(noon.Add(time.Second))),
			}
		}
	}
	ahead := func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Status.StartFailure.RetryAfter = new(metav1.NewTime(noon.Add(time.Hour)))
	}
	wasRunning := func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Status.Server = &cloudnativev1alpha1.Server{State: stateText(machine.StateRunning)}
	}
	broken := func(o *observation) { o.found.ExitCode = new(int32(1)) }
	refuses := func(reason string, steps ...operation.Step) func(*observation) {
		return func(o *observation) {
			ended(reason, machine.ErrNoCapacity, steps...)(o)
			o.op.At = operation.Resize
		}
	}
	condition := func(name, value, reason string) vmEdit {
		return func(vm *cloudnativev1alpha1.VirtualMachine) {
			vm.Status.Conditions = append(vm.Status.Conditions, metav1.Condition{
				Type: name, Status: metav1.ConditionStatus(value), Reason: reason, Message: "told by an earlier pass", ObservedGeneration: 1,
			})
		}
	}
	refused := func(reason string) vmEdit { return condition("ResourcesSynced", "False", reason) }
	needsRestart := condition("RestartRequired", "True", "ResizePending")
	crashed := func(vm *cloudnativev1alpha1.VirtualMachine) {
		vm.Status.StartFailure = &cloudnativev1alpha1.StartFailure{Count: 2, Reason: "Crashed", RetryAfter: new(metav1.NewTime(noon.Add(-time.Minute)))}
	}
	// corrected is a spec that was changed while an operation for the one before was running.
	corrected := func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Generation, vm.Status.ObservedGeneration = 2, 2 }
	tests := map[string]struct {
		vm   []vmEdit
		seen []func(*observation)
		want planned
	}{
		"a machine that is as it should be is left alone": {want: planned{Phase: "Active"}},
		"one that is not there is made":                   {seen: []func(*observation){none}, want: planned{Steps: []operation.Step{operation.Prepare, operation.Create, operation.Start}, Phase: "Creating", Reason: "Provisioning"}},
		"a halted one is made and not started": {
			vm: []vmEdit{runs("Halted")}, seen: []func(*observation){none}, want: planned{Steps: []operation.Step{operation.Prepare, operation.Create}, Phase: "Creating", Reason: "Provisioning"},
		},
		"one that was never started is started": {seen: []func(*observation){state(machine.StateCreated)}, want: planned{Steps: []operation.Step{operation.Start}, Phase: "Creating", Reason: "Starting"}},
		"one that runs and shall not is turned off": {
			vm: []vmEdit{runs("Halted")}, want: planned{Steps: []operation.Step{operation.Stop}, Reason: "Stopping"},
		},
		"one that is suspended is left alone": {seen: []func(*observation){state(machine.StatePaused)}, want: planned{Phase: "Stopped", Reason: "Held"}},
		"one that is suspended and shall be off is turned off": {
			vm: []vmEdit{runs("Halted")}, seen: []func(*observation){state(machine.StatePaused)}, want: planned{Steps: []operation.Step{operation.Stop}, Reason: "Stopping"},
		},
		"one that is on its way off is waited for": {seen: []func(*observation){state(machine.StateStopping)}, want: planned{Reason: "Stopping"}},
		"a restart is done":                        {vm: []vmEdit{restart}, want: planned{Steps: []operation.Step{operation.Stop, operation.Start}, Phase: "Creating", Reason: "Restarting"}},
		"a restart that a start has done is not done again": {
			vm: []vmEdit{restart}, seen: []func(*observation){func(o *observation) { o.found.StartedAt = noon }}, want: planned{Phase: "Active"},
		},
		// Its host's clock was ahead, and the restart had no effect.
		"a start in the future has done no restart": {
			vm: []vmEdit{restart}, seen: []func(*observation){func(o *observation) { o.found.StartedAt = noon.Add(time.Minute) }},
			want: planned{Steps: []operation.Step{operation.Stop, operation.Start}, Phase: "Creating", Reason: "Restarting"},
		},
		"a restart of a changed container replaces it": {
			vm: []vmEdit{restart}, seen: []func(*observation){other}, want: planned{Steps: []operation.Step{operation.Prepare, operation.Replace, operation.Start}, Phase: "Creating", Reason: "Replacing"},
		},
		"a restart of a changed guest keeps its disks": {
			vm: []vmEdit{restart}, seen: []func(*observation){other, guest}, want: planned{Steps: []operation.Step{operation.Stop, operation.Resize, operation.Start}, Phase: "Creating", Reason: "Restarting"},
		},
		// It had been asked for another size, which waited in its definition and came with the restart, although nobody wanted it any more.
		"a restart of a guest gives it the size that it has": {
			vm: []vmEdit{restart}, seen: []func(*observation){guest},
			want: planned{Steps: []operation.Step{operation.Stop, operation.Resize, operation.Start}, Phase: "Creating", Reason: "Restarting"},
		},
		"a restart brings another size": {
			vm: []vmEdit{restart}, seen: []func(*observation){small}, want: planned{Steps: []operation.Step{operation.Stop, operation.Resize, operation.Start}, Phase: "Creating", Reason: "Restarting"},
		},
		"a restart that failed waits for its time": {vm: []vmEdit{restart, waits("StopFailed")}, want: planned{Phase: "Active", Reason: "StopFailed"}},
		"a restart does not wait for a crash": {
			vm: []vmEdit{restart, waits("Crashed")}, seen: []func(*observation){state(machine.StateStopped)}, want: planned{Steps: []operation.Step{operation.Start}, Phase: "Creating", Reason: "Starting"},
		},
		"a crash waits for its time": {
			vm: []vmEdit{waits("Crashed")}, seen: []func(*observation){state(machine.StateStopped)}, want: planned{Phase: "CrashLoopBackOff", Reason: "Crashed"},
		},
		// A manager was killed while it replaced the machine: what it had turned off itself had crashed, and was not replaced before the next start.
		"a container that an ended manager was replacing has not crashed": {
			vm: []vmEdit{wasRunning}, seen: []func(*observation){state(machine.StateStopped), broken, other, func(o *observation) { o.found.Replacing = true }},
			want: planned{Steps: []operation.Step{operation.Prepare, operation.Replace, operation.Start}, Phase: "Creating", Reason: "Replacing"},
		},
		// What was made to replace it was left when the manager ended, and the change was taken back: it was started once more.
		"a container that was not replaced after all has ended by itself": {
			vm: []vmEdit{runs("Once"), wasRunning}, seen: []func(*observation){state(machine.StateStopped), func(o *observation) { o.found.Replacing = true }},
			want: planned{Phase: "Stopped"},
		},
		"one that was turned off before the change was taken back has not": {
			vm:   []vmEdit{runs("Once"), wasRunning, condition("PowerSynced", "False", "Replacing")},
			seen: []func(*observation){state(machine.StateStopped), func(o *observation) { o.found.Replacing = true }},
			want: planned{Steps: []operation.Step{operation.Start}, Phase: "Creating", Reason: "Starting"},
		},
		"one that nobody was replacing has": {
			vm: []vmEdit{wasRunning}, seen: []func(*observation){state(machine.StateStopped), broken, other},
			want: planned{Phase: "CrashLoopBackOff", Reason: "Crashed"},
		},
		"a crash does not wait for an hour that a clock was ahead": {
			vm: []vmEdit{waits("Crashed"), ahead}, seen: []func(*observation){state(machine.StateStopped)},
			want: planned{Steps: []operation.Step{operation.Start}, Phase: "Creating", Reason: "Starting"},
		},
		"an image waits for its time":   {vm: []vmEdit{waits("ImageNotFound")}, seen: []func(*observation){none}, want: planned{Phase: "ImagePullBackOff", Reason: "ImageNotFound"}},
		"another size is given at once": {seen: []func(*observation){small}, want: planned{Steps: []operation.Step{operation.Resize}, Reason: "Resizing"}},
		"another size of one that has ended waits for its next start": {
			vm: []vmEdit{runs("Once")}, seen: []func(*observation){state(machine.StateStopped), small}, want: planned{Phase: "Stopped", Reason: "ResizePending"},
		},
		"another size of one that has crashed waits, too": {
			vm: []vmEdit{runs("Once")}, seen: []func(*observation){state(machine.StateStopped), small, broken}, want: planned{Phase: "Failed", Reason: "Crashed"},
		},
		"another image waits":            {seen: []func(*observation){other}, want: planned{Phase: "Active"}},
		"a guest of another image waits": {seen: []func(*observation){other, guest}, want: planned{Phase: "Active"}},
		"an operation is waited for":     {seen: []func(*observation){goes(1, operation.Prepare)}, want: planned{Phase: "Creating", Reason: "Provisioning"}},
		"an outdated pull is given up":   {seen: []func(*observation){goes(0, operation.Prepare)}, want: planned{Phase: "Creating", Reason: "Provisioning", Canceled: true}},
		"so is an outdated replacement":  {seen: []func(*observation){goes(0, operation.Replace)}, want: planned{Phase: "Creating", Reason: "Provisioning", Canceled: true}},
		"an outdated creation goes on":   {seen: []func(*observation){goes(0, operation.Create)}, want: planned{Phase: "Creating", Reason: "Provisioning"}},
		"a start that failed is counted": {seen: []func(*observation){state(machine.StateCreated), ended("Starting", errors.New("no"), operation.Start)}, want: planned{Phase: "Failed", Reason: "StartFailed"}},
		"a start that was ended is not": {
			seen: []func(*observation){state(machine.StateCreated), func(o *observation) {
				ended("Starting", fmt.Errorf("no: %w", context.Canceled), operation.Start)(o)
				o.op.Canceled = true
			}}, want: planned{Steps: []operation.Step{operation.Start}, Phase: "Creating", Reason: "Starting"},
		},
		"a failure with an earlier spec does not hold up the corrected one": {
			vm: []vmEdit{corrected}, seen: []func(*observation){none, ended("Provisioning", machine.ErrImageNotFound, operation.Prepare)},
			want: planned{Steps: []operation.Step{operation.Prepare, operation.Create, operation.Start}, Phase: "Creating", Reason: "Provisioning"},
		},
		"a size that was refused of an earlier spec says nothing about the corrected one": {
			vm: []vmEdit{corrected}, seen: []func(*observation){small, refuses("Resizing", operation.Resize)},
			want: planned{Steps: []operation.Step{operation.Resize}, Reason: "Resizing"},
		},
		"a machine that ended with an error right after its start has crashed": {
			seen: []func(*observation){state(machine.StateStopped), broken, ended("Starting", nil, operation.Start)},
			want: planned{Phase: "CrashLoopBackOff", Reason: "Crashed"},
		},
		"one that shut down in order right after its start is stopped": {
			seen: []func(*observation){state(machine.StateStopped), ended("Starting", nil, operation.Start)},
			want: planned{Phase: "Stopped", Reason: "Stopped"},
		},
		"a start whose resize is refused is tried without": {
			seen: []func(*observation){state(machine.StateStopped), small, refuses("Starting", operation.Resize, operation.Start)},
			want: planned{Steps: []operation.Step{operation.Start}, Phase: "Creating", Reason: "Starting"},
		},
		"a machine whose resize was refused starts with what it has": {
			vm: []vmEdit{refused("NoCapacity")}, seen: []func(*observation){state(machine.StateCreated), small},
			want: planned{Steps: []operation.Step{operation.Start}, Phase: "Creating", Reason: "Starting"},
		},
		"a resize that was refused of another spec is tried": {
			vm:   []vmEdit{refused("NoCapacity"), func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Generation++ }},
			seen: []func(*observation){state(machine.StateCreated), small},
			want: planned{Steps: []operation.Step{operation.Resize, operation.Start}, Phase: "Creating", Reason: "Starting"},
		},
		"a resize that failed on a running machine waits for its time": {
			seen: []func(*observation){small, refuses("Resizing", operation.Resize)}, want: planned{Phase: "Active", Reason: "NoCapacity"},
		},
		"a refused resize does not spoil the count of crashes": {
			vm: []vmEdit{refused("NoCapacity"), crashed}, seen: []func(*observation){small}, want: planned{Phase: "Active", Reason: "NoCapacity"},
		},
		"a restart that did not help is not repeated": {
			vm: []vmEdit{refused("NoCapacity"), needsRestart, func(vm *cloudnativev1alpha1.VirtualMachine) {
				vm.Spec.UpdatePolicy = cloudnativev1alpha1.UpdateRestart
			}},
			seen: []func(*observation){small}, want: planned{Phase: "Active", Reason: "NoCapacity"},
		},
		"a running container stays Active while the image of its successor is fetched": {
			vm:   []vmEdit{restart, func(vm *cloudnativev1alpha1.VirtualMachine) { vm.Status.Phase = cloudnativev1alpha1.PhaseActive }},
			seen: []func(*observation){other},
			want: planned{Steps: []operation.Step{operation.Prepare, operation.Replace, operation.Start}, Phase: "Active", Reason: "Replacing"},
		},
		"a running container stays Active without the image of its successor": {
			seen: []func(*observation){other, ended("Replacing", machine.ErrImageNotFound, operation.Prepare)},
			vm:   []vmEdit{restart}, want: planned{Phase: "Active", Reason: "ImageNotFound"},
		},
		"one that was turned off by us has not": {
			seen: []func(*observation){state(machine.StateStopped), ended("Stopping", nil, operation.Stop)}, want: planned{Steps: []operation.Step{operation.Start}, Phase: "Creating", Reason: "Starting"},
		},
		"a replacement that failed half-way is no loss": {
			seen: []func(*observation){none, ended("Replacing", machine.ErrBusy, operation.Remove, operation.Create)}, want: planned{Phase: "Failed", Reason: "CreateFailed"},
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			vm := aMachine(append([]vmEdit{func(vm *cloudnativev1alpha1.VirtualMachine) {
				vm.Status = cloudnativev1alpha1.VirtualMachineStatus{ObservedGeneration: 1}
			}}, test.vm...)...)
			got := plannedOf(plan(vm, sees(vm, test.seen...), noon))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPlanKeepsItsPromises holds random plans against what every plan has to be.
func TestPlanKeepsItsPromises(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(1, 2))
	pick := func(n int) int { return dice.IntN(n) }
	states := []machine.State{
		machine.StateCreated, machine.StateRunning, machine.StatePaused, machine.StateStopping, machine.StateStopped, machine.StateUnknown,
	}
	reasons := []string{"Crashed", "InstanceLost", "ImageNotFound", "InvalidSpec", "StartFailed", "ResizeFailed"}
	for range 20_000 {
		vm := aMachine(
			runs([]cloudnativev1alpha1.RunStrategy{"", "Always", "RerunOnFailure", "Once", "Halted", "Suspended"}[pick(6)]),
			func(vm *cloudnativev1alpha1.VirtualMachine) {
				vm.Spec.UpdatePolicy = []cloudnativev1alpha1.UpdatePolicy{"", "Live", "Restart", "Manual"}[pick(4)]
				vm.Status.ObservedGeneration = int64(pick(2))
				if pick(2) == 0 {
					vm.Spec.RestartAt = new(metav1.NewTime(noon.Add(time.Duration(pick(7)-3) * time.Minute)))
				}
				if pick(2) == 0 {
					vm.Status.Server = &cloudnativev1alpha1.Server{ID: "x", State: stateText(states[pick(6)]), Suspended: pick(2) == 0}
				}
				if pick(2) == 0 {
					vm.Status.StartFailure = &cloudnativev1alpha1.StartFailure{
						Count: int32(pick(9)), Reason: reasons[pick(6)], RetryAfter: new(metav1.NewTime(noon.Add(time.Duration(pick(3)-1) * time.Minute))),
					}
				}
			})
		seen := sees(vm, state(states[pick(6)]), func(o *observation) {
			if pick(3) == 0 {
				o.found.SpecHash = "another"
			}
			if pick(3) == 0 {
				o.found.Resources.MemoryBytes = 1
			}
			if pick(4) == 0 {
				o.found = nil
			}
			if pick(3) == 0 {
				o.unkept = noon.Add(-time.Duration(pick(2)) * time.Minute)
			}
			if pick(3) == 0 {
				o.op = &operation.Progress{
					Operation: operation.Operation{Reason: "Starting", Steps: []operation.Step{operation.Start}, Generation: int64(pick(2))},
					At:        operation.Start, Done: pick(2) == 0,
				}
			}
			if o.op.Ended() && pick(2) == 0 {
				o.op.Err = machine.ErrBusy
			}
		})
		before := vm.DeepCopy()
		d := plan(vm, seen, noon)
		describe := func() string { return fmt.Sprintf("vm %+v\nseen %+v\nplan %+v", before, seen, d) }
		if diff := cmp.Diff(before, vm); diff != "" {
			t.Fatalf("the plan changes the object: %s\n%s", diff, describe())
		}
		switch {
		case d.next != nil && seen.op.Running():
			t.Fatalf("two operations at once: %s", describe())
		case d.next != nil && !starts(strategyOf(vm)) && (d.next.Has(operation.Start) || d.next.Has(operation.Resume)):
			t.Fatalf("a machine that is to be off or suspended is started: %s", describe())
		case d.next != nil && d.next.Has(operation.Resume) && !keptSuspended(vm):
			t.Fatalf("a machine that somebody else has suspended is resumed: %s", describe())
		case d.next != nil && d.next.Has(operation.Suspend) && (!keptSuspended(vm) || strategyOf(vm) != cloudnativev1alpha1.RunSuspended):
			t.Fatalf("a machine is suspended without a record or a wish: %s", describe())
		case d.next != nil && d.next.Has(operation.Remove) && d.next.Reason != cloudnativev1alpha1.ReasonReplacing:
			t.Fatalf("a machine is removed: %s", describe())
		case d.next != nil && d.next.Has(operation.Create) && !d.next.Has(operation.Prepare):
			t.Fatalf("a machine is made without an image: %s", describe())
		case d.next != nil && d.outcome.IsDone():
			t.Fatalf("something is done and nothing waited for: %s", describe())
		case d.release:
			t.Fatalf("an object that lives is let go: %s", describe())
		case d.failure != nil && d.failure.RetryAfter != nil && d.failure.RetryAfter.Sub(noon) > lastBackoff:
			t.Fatalf("an attempt is further away than the longest backoff: %s", describe())
		}
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	var got []int
	for count := range int32(9) {
		got = append(got, int(backoff(count).Seconds()))
	}
	if diff := cmp.Diff([]int{10, 10, 40, 90, 160, 250, 300, 300, 300}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSecretsAreHashedPerMachine(t *testing.T) {
	t.Parallel()
	one, two := aMachine(), aMachine(func(vm *cloudnativev1alpha1.VirtualMachine) { vm.UID = "another" })
	for _, vm := range []*cloudnativev1alpha1.VirtualMachine{one, two} {
		vm.Spec.CloudInit = &cloudnativev1alpha1.CloudInit{UserDataSecretRef: &cloudnativev1alpha1.SecretKey{Name: "seed"}}
	}
	hash := func(vm *cloudnativev1alpha1.VirtualMachine, data string) string {
		return specOf(vm, "installation", machine.DriverLibvirt, secrets{userData: data}).Hash
	}
	first, again := hash(one, "a"), hash(one, "a")
	if first == hash(one, "b") || first == hash(two, "a") || first != again {
		t.Error("the hash is not of machine and content")
	}
}

func TestRegistryAuth(t *testing.T) {
	t.Parallel()
	config := `{"auths":{"https://index.docker.io/v1/":{"auth":"bWU6c2VjcmV0"},"registry.example:5000":{"username":"you","password":"p"}}}`
	tests := map[string]struct {
		config, image string
		want          *machine.RegistryAuth
		err           bool
	}{
		"an image of Docker Hub":     {config, "nginx:1", &machine.RegistryAuth{Username: "me", Password: "secret", ServerAddress: dockerHub}, false},
		"the same with its name":     {config, "docker.io/library/nginx", &machine.RegistryAuth{Username: "me", Password: "secret", ServerAddress: dockerHub}, false},
		"an image of another one":    {config, "registry.example:5000/a/b@sha256:1", &machine.RegistryAuth{Username: "you", Password: "p", ServerAddress: "registry.example:5000"}, false},
		"a registry that is missing": {config, "elsewhere.example/a", nil, false},
		"no configuration":           {"hunter2", "nginx", nil, true},
		"an invalid auth":            {`{"auths":{"docker.io":{"auth":"%"}}}`, "nginx", nil, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := registryAuth([]byte(test.config), test.image)
			if diff := cmp.Diff(test.want, got); diff != "" || (err != nil) != test.err {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
