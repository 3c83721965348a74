// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
)

// step is a call of the plugin, and what it leaves.
type step struct {
	args string
	in   string
	// asked is true where there is a terminal that can be asked.
	asked    bool
	code     int
	out, err string
}

// steps calls the plugin step by step, as the caller that the arguments in front make.
func (s *stage) steps(t *testing.T, front []string, steps ...step) {
	t.Helper()
	for _, each := range steps {
		with := options{in: each.in}
		if each.asked {
			with.width = 120
		}
		args := append(append([]string{"--kubeconfig", s.kubeconfig}, front...), strings.Fields(each.args)...)
		got := run(t, with, args...)
		if got.code != each.code {
			t.Errorf("%s: exit code %d, want %d: %s%s", each.args, got.code, each.code, got.out, got.err)
		}
		has(t, got.out, each.out)
		has(t, got.err, each.err)
	}
}

// machine makes a machine in a namespace of its own.
func (s *stage) machine(t *testing.T) *cloudnativev1alpha1.VirtualMachine {
	t.Helper()
	vm := &cloudnativev1alpha1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace(t), Name: "web"}}
	vm.Spec.Image.Name = "debian"
	vm.Spec.Resource = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	s.Create(t, vm)
	return vm
}

func (s *stage) reread(t *testing.T, object client.Object) {
	t.Helper()
	must(t, s.Live.Get(t.Context(), client.ObjectKeyFromObject(object), object))
}

func TestPower(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	vm := s.machine(t)
	within := []string{"-n", vm.Namespace}
	s.steps(t, within,
		step{args: "power on vm/web", out: "virtualmachine.cloudnative.tw/web unchanged: The machine is on"},
		step{args: "power off vm/web --dry-run=client", out: "virtualmachine.cloudnative.tw/web turned off (dry run)"},
		step{args: "power off vm/web --dry-run server -o yaml", out: "runStrategy: Halted"},
		step{args: "power restart vm/web", out: "virtualmachine.cloudnative.tw/web is to be restarted"},
		step{args: "power suspend vm/web", out: "virtualmachine.cloudnative.tw/web is to be suspended"},
		step{args: "power restart vm/web", code: exitPrevented, err: "resume the machine first"},
		step{args: "power resume vm/web", out: "virtualmachine.cloudnative.tw/web is to be resumed"},
		step{args: "power off vm/web --hard", code: exitMisused, err: "then give --yes"},
		step{args: "power off vm/web --hard", asked: true, in: "no\n", code: exitPrevented, err: "Cut the power of VirtualMachine web"},
		step{args: "power off vm/web --hard", asked: true, code: exitPrevented, err: "the answer was not yes"},
	)
	if s.reread(t, vm); vm.Spec.RunStrategy == cloudnativev1alpha1.RunHalted || vm.Spec.RestartAt == nil {
		t.Errorf("only the restart is to be written: %+v", vm.Spec)
	}
	s.steps(t, within,
		step{
			args: "power off vm web --hard --grace-period 7 -v", asked: true, in: "y\n", out: "virtualmachine.cloudnative.tw/web turned off\n",
			err: "kubectl patch virtualmachines.cloudnative.tw web -n " + vm.Namespace + " --type merge -p '{\"spec\":{",
		},
		step{args: "power restart vm/web", code: exitPrevented, err: "spec.runStrategy is Halted: turn the machine on instead."},
		step{args: "power on vm/web --hard", code: exitMisused, err: "leave them out with on"},
		step{args: "power off vm/web --grace-period 3601", code: exitMisused, err: "0 to 3600"},
		step{args: "power blink vm/web", code: exitMisused, err: `"blink" is nothing that a machine can be told: it is one of on, off, restart, suspend, resume`},
		step{args: "power off pod/web", code: exitMisused, err: "this command does not work on pod"},
		step{args: "power off vm/nothing", code: exitPrevented, err: `virtualmachine "nothing" does not exist`},
	)
	s.reread(t, vm)
	if vm.Spec.RunStrategy != cloudnativev1alpha1.RunHalted || vm.Spec.PowerOff.Mode != cloudnativev1alpha1.PowerOffHard || *vm.Spec.PowerOff.GracePeriodSeconds != 7 {
		t.Errorf("the machine is to be off: %+v", vm.Spec)
	}
	managed := false
	for _, entry := range vm.ManagedFields {
		managed = managed || entry.Manager == fieldManager && strings.Contains(entry.FieldsV1.GetRawString(), `"f:runStrategy"`)
	}
	if !managed {
		t.Errorf("the plugin does not own what it has written: %v", vm.ManagedFields)
	}
}

// TestPowerIsCutWithoutAsking: how a machine is turned off stays in its spec, and after one "power off --hard" nobody was asked any more.
func TestPowerIsCutWithoutAsking(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	vm := s.machine(t)
	mode := func(want cloudnativev1alpha1.PowerOffMode, strategy cloudnativev1alpha1.RunStrategy) {
		t.Helper()
		s.reread(t, vm)
		if vm.Spec.PowerOff.Mode != want || vm.Spec.RunStrategy != strategy {
			t.Errorf("spec.powerOff.mode is %q, want %q, and spec.runStrategy is %q, want %q", vm.Spec.PowerOff.Mode, want, vm.Spec.RunStrategy, strategy)
		}
	}
	within := []string{"-n", vm.Namespace}
	s.steps(t, within,
		step{args: "power off vm/web --hard --yes", out: "turned off"},
		step{args: "power off vm/web", out: "unchanged"}, // there is nothing to cut
		step{args: "power on vm/web", out: "turned on"},
		step{args: "power off vm/web", code: exitMisused, err: "this needs a consent"},
		step{args: "power restart vm/web --grace-period 60", code: exitMisused, err: "With --hard=false the machine is asked to shut down."},
		step{args: "power off vm/web", asked: true, in: "n\n", code: exitPrevented, err: "Cut the power of VirtualMachine web"},
		step{args: "power off vm/web --dry-run=server", out: "turned off (server dry run)", err: "spec.powerOff.mode of VirtualMachine web is Hard."},
		step{args: "power suspend vm/web --dry-run=server", out: "is to be suspended"},
		step{args: "power on vm/web --hard=false", code: exitMisused, err: "leave them out with on"},
	)
	mode(cloudnativev1alpha1.PowerOffHard, cloudnativev1alpha1.RunAlways)
	s.steps(t, within, step{args: "power off vm/web", asked: true, in: "y\n", out: "turned off\n"})
	mode(cloudnativev1alpha1.PowerOffHard, cloudnativev1alpha1.RunHalted)
	s.steps(t, within,
		step{args: "power on vm/web", out: "turned on"},
		step{args: "power off vm/web --hard=false", out: "turned off\n"},
	)
	mode(cloudnativev1alpha1.PowerOffTrySoft, cloudnativev1alpha1.RunHalted)
	vm.Spec.PowerOff.Mode, vm.Spec.RunStrategy = cloudnativev1alpha1.PowerOffSoft, cloudnativev1alpha1.RunAlways
	must(t, s.Live.Update(t.Context(), vm))
	s.steps(t, within, step{args: "power off vm/web --hard=false", out: "turned off\n"})
	mode(cloudnativev1alpha1.PowerOffSoft, cloudnativev1alpha1.RunHalted) // which is never cut
}

func TestResize(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	vm := s.machine(t)
	s.steps(t, []string{"-n", vm.Namespace},
		step{args: "resize vm/web --cpu 4 --memory 8Gi -o name", out: "virtualmachine.cloudnative.tw/web\n"},
		step{args: "resize vm/web --cpu 4000m", out: "unchanged"},
		step{args: "resize vm/web --root-disk 20Gi", out: "resized"},
		step{args: "resize vm/web --root-disk 10Gi", code: exitPrevented, err: "a root disk only grows"},
		step{args: "resize vm/web --cpu many", code: exitPrevented, err: "cpu is not a quantity"},
		step{args: "resize vm/web", code: exitMisused, err: "give the new size"},
	)
	s.reread(t, vm)
	for name, want := range map[string]string{"cpu": "4", "memory": "8Gi", string(cloudnativev1alpha1.ResourceRootDisk): "20Gi"} {
		for key, got := range vm.Spec.Resource {
			if string(key) == name && got.Cmp(resource.MustParse(want)) != 0 {
				t.Errorf("%s is %s, want %s", name, got.String(), want)
			}
		}
	}
	if len(vm.Spec.Resource) != 3 {
		t.Errorf("the size is %v", vm.Spec.Resource)
	}
}

func TestApproveOnlyThePlanThatWasShown(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	name := s.Namespace(t)
	cluster := &clusterprovisionerv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: clusterprovisionerv1alpha1.ClusterSpec{
		Config: &clusterprovisionerv1alpha1.ConfigSource{Inline: "nodes: []\n"}, Approval: clusterprovisionerv1alpha1.ApprovalManual,
	}}
	s.Create(t, cluster)
	s.steps(t, nil, step{args: "approve cluster/" + name, out: "unchanged: No plan of the Cluster waits for an approval."})
	plan := func(id string) {
		s.reread(t, cluster)
		cluster.Status.Plan = &clusterprovisionerv1alpha1.Plan{ID: id, Summary: "removes node 192.0.2.7\nversion 1.36 to 1.37", Destructive: true}
		cluster.Status.ObservedGeneration = cluster.Generation
		must(t, s.Live.Status().Update(t.Context(), cluster))
	}
	plan("one")
	s.steps(t, nil,
		step{args: "approve cluster/" + name, code: exitMisused, err: "removes node 192.0.2.7"},
		step{args: "approve cluster/" + name, asked: true, in: "n\n", code: exitPrevented, err: "Something may be lost"},
		step{args: "approve cluster/" + name + " --plan two --yes", code: exitPrevented, err: "The plan has changed since you have read it."},
		step{args: "approve cluster/" + name + " --plan= --yes", code: exitMisused, err: "--plan is empty"},
		step{args: "approve cluster/" + name + " --yes --dry-run=server", out: "approved (server dry run)"},
	)
	if s.reread(t, cluster); len(cluster.Annotations) > 0 {
		t.Fatalf("nothing is to be approved: %v", cluster.Annotations)
	}
	slow := &slowAnswer{Reader: strings.NewReader("yes\n"), before: func() { plan("two") }}
	got := runFrom(t, slow, "--kubeconfig", s.kubeconfig, "approve", "cluster/"+name)
	if s.reread(t, cluster); got.code != exitPrevented || len(cluster.Annotations) > 0 {
		t.Errorf("a plan that came while its predecessor was shown is approved: %+v %v", got, cluster.Annotations)
	}
	has(t, got.err, "Plan one of Cluster", "The plan has changed since you have read it.")
	s.steps(t, nil,
		step{args: "approve cluster/" + name, asked: true, in: "YES\n", out: "approved\n", err: "Approve this plan? [y/N]"},
		step{args: "retry cluster/" + name, out: "is to be tried again"},
	)
	s.reread(t, cluster)
	if cluster.Annotations[clusterprovisionerv1alpha1.ApproveAnnotation] != "two" || cluster.Annotations[clusterprovisionerv1alpha1.RetryAnnotation] == "" {
		t.Errorf("the annotations are %v", cluster.Annotations)
	}
}

// slowAnswer is an answer before which something happens.
type slowAnswer struct {
	io.Reader

	before func()
}

// Read implements io.Reader.
func (s *slowAnswer) Read(into []byte) (int, error) {
	if s.before != nil {
		s.before()
		s.before = nil
	}
	return s.Reader.Read(into)
}

// runFrom runs the plugin with a terminal that answers.
func runFrom(t *testing.T, in io.Reader, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := Execute(t.Context(), Options{
		Streams: Streams{In: in, Out: &out, Err: &errs, Interactive: true}, Now: time.Now, Getenv: func(string) string { return "" },
	}, args)
	return result{code: code, out: out.String(), err: errs.String()}
}

func TestAcknowledge(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	name := s.Namespace(t)
	pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.Create(t, pool)
	s.steps(t, nil, step{args: "acknowledge nodepool/" + name + " --yes", out: "unchanged: The condition SafetyBrake"})
	pool.Status.ObservedGeneration = pool.Generation
	pool.Status.Conditions = []metav1.Condition{{
		Type: nodesv1.ConditionSafetyBrake, Status: metav1.ConditionTrue, Reason: "TooManyLeaving", Message: "7 of 9 nodes would leave.",
		LastTransitionTime: metav1.Now(),
	}}
	must(t, s.Live.Status().Update(t.Context(), pool))
	s.steps(t, nil,
		step{args: "acknowledge np/" + name, code: exitMisused, err: "7 of 9 nodes would leave."},
		step{args: "acknowledge np/" + name, asked: true, in: "yes\n", out: "nodepool.nodes.lailin.xyz/" + name + " acknowledged", err: "Let these nodes leave"},
	)
	if s.reread(t, pool); pool.Annotations[nodesv1.AcknowledgeAnnotation] != "1" {
		t.Errorf("the annotations are %v", pool.Annotations)
	}
}

// TestAPausedClusterThatIsBeingDeletedCannotBeResumed resumes what a person paused before they deleted it: nothing is removed while it is paused.
func TestAPausedClusterThatIsBeingDeletedCannotBeResumed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	cluster := &clusterprovisionerv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{
			Name: s.Namespace(t), Finalizers: []string{"example.com/test"}, Annotations: map[string]string{status.PausedAnnotation: "true"},
		},
		Spec: clusterprovisionerv1alpha1.ClusterSpec{ConfigPath: "/cluster.yml"},
	}
	s.Create(t, cluster)
	must(t, s.Live.Delete(t.Context(), cluster))
	s.steps(t, nil,
		step{args: "resume cluster/" + cluster.Name, out: cluster.Name + " resumed\n"},
		step{args: "pause cluster/" + cluster.Name, code: exitPrevented, err: "The object is being deleted."},
		step{args: "retry cluster/" + cluster.Name, out: cluster.Name + " is to be tried again\n"},
	)
	if s.reread(t, cluster); cluster.Annotations[status.PausedAnnotation] != "" {
		t.Errorf("the Cluster is still paused: %v", cluster.Annotations)
	}
	cluster.Finalizers = nil
	must(t, s.Live.Update(t.Context(), cluster))
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	vm := s.machine(t)
	set := &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: vm.Namespace, Name: "web"}, Spec: appsv1alpha1.PodSetSpec{Size: 1}}
	s.Create(t, set)
	within := []string{"--kubeconfig", s.kubeconfig, "-n", vm.Namespace}
	now := options{now: func() time.Time { return time.Date(2100, 1, 2, 3, 4, 5, 0, time.UTC) }}
	for _, each := range []struct{ args, want string }{
		{args: "pause vm/web", want: "true"},
		{args: "pause vm/web --for 2h", want: "2100-01-02T05:04:05Z"},
		{args: "pause vm/web --until 2100-02-01T00:00:00+01:00", want: "2100-01-31T23:00:00Z"},
		{args: "resume vm/web", want: ""},
	} {
		got := run(t, now, append(within[:4:4], strings.Fields(each.args)...)...)
		if s.reread(t, vm); got.code != exitFine || vm.Annotations[status.PausedAnnotation] != each.want {
			t.Errorf("%s: %+v, and the annotation is %q", each.args, got, vm.Annotations[status.PausedAnnotation])
		}
	}
	s.steps(t, within[2:],
		step{args: "pause podset/web", out: "podset.apps.jicki.cn/web paused"},
		step{args: "pause podset/web", out: "unchanged"},
		step{args: "resume podset/web", out: "podset.apps.jicki.cn/web resumed"},
		step{args: "pause vm/web --for 0s", code: exitMisused, err: "--for must be 1s to 8760h"},
		step{args: "pause vm/web --for 2h --until 2100-02-01T00:00:00Z", code: exitMisused, err: "--for and --until exclude each other"},
		step{args: "pause vm/web --until=", code: exitMisused, err: "--until is empty"},
		step{args: "pause vm/web --until tomorrow", code: exitMisused, err: "--until must be a time"},
		step{args: "pause vm/web --until 2001-01-01T00:00:00Z", code: exitPrevented, err: "until is in the past"},
		step{args: "pause pod/web", code: exitMisused, err: "this command does not work on pod"},
		step{args: "pause vm/web --dry-run=maybe", code: exitMisused, err: "it must be none, client or server"},
	)
}

// TestAttackActionsWithoutRights: the API server decides, and what it refuses is said in a sentence.
func TestAttackActionsWithoutRights(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	vm := s.machine(t)
	reader := s.limited(t, vm.Namespace, "get virtualmachines.cloudnative.tw")
	s.steps(t, reader,
		step{args: "power off vm/web", code: exitPrevented, err: "you may not patch resource virtualmachines in API group cloudnative.tw"},
		step{args: "pause vm/web", code: exitPrevented, err: "you may not patch"},
		step{args: "power off vm/web --dry-run=client", out: "turned off (dry run)"},
	)
	if s.reread(t, vm); vm.Spec.RunStrategy == cloudnativev1alpha1.RunHalted || len(vm.Annotations) > 0 {
		t.Errorf("it is changed: %+v", vm)
	}
}

// TestAChangeIsLostToAController holds that a controller that writes an object several times in a row does not keep a change from it.
func TestAChangeIsLostToAController(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	vm := s.machine(t)
	var begin sync.Once
	var over atomic.Bool
	through := s.behind(t, func(request *http.Request) {
		if request.Method != http.MethodPatch {
			return
		}
		begin.Do(func() { time.AfterFunc(300*time.Millisecond, func() { over.Store(true) }) })
		if over.Load() {
			return
		}
		err := s.Live.Get(request.Context(), client.ObjectKeyFromObject(vm), vm)
		vm.Status.ObservedGeneration++
		if err := errors.Join(err, s.Live.Status().Update(request.Context(), vm)); err != nil {
			t.Error(err)
		}
	})
	through.steps(t, nil, step{args: "pause vm/web --namespace " + vm.Namespace, out: "paused"})
}
