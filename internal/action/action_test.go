// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

var now = time.Date(2100, 1, 2, 3, 4, 5, 600_000_000, time.UTC)

// codeOf returns the code of a refusal, and "" for none.
func codeOf(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok {
		t.Fatalf("%v is no refusal", err)
	}
	return refusal.Code
}

func TestPower(t *testing.T) {
	t.Parallel()
	type machine = cloudnativev1alpha1.VirtualMachineSpec
	soon := &metav1.Time{Time: now.Truncate(time.Second).Add(time.Second)}
	before := &metav1.Time{Time: now.Add(-time.Minute)}
	held := []metav1.Condition{{Type: cloudnativev1alpha1.ConditionPowerSynced, Status: metav1.ConditionFalse, Reason: cloudnativev1alpha1.ReasonHeld}}
	for name, c := range map[string]struct {
		spec   machine
		status cloudnativev1alpha1.VirtualMachineStatus
		want   PowerRequest
		spec2  machine
		code   string
	}{
		"a machine that runs is turned off": {
			want: PowerRequest{State: "off"}, spec2: machine{RunStrategy: cloudnativev1alpha1.RunHalted},
		},
		"an early manifest is turned off": {
			spec: machine{Action: cloudnativev1alpha1.ActionActive},
			want: PowerRequest{State: "off", Mode: cloudnativev1alpha1.PowerOffHard, GracePeriodSeconds: new(int32(7))},
			spec2: machine{
				RunStrategy: cloudnativev1alpha1.RunHalted,
				PowerOff:    cloudnativev1alpha1.PowerOff{Mode: cloudnativev1alpha1.PowerOffHard, GracePeriodSeconds: new(int32(7))},
			},
		},
		"a machine that is off is turned on": {
			spec: machine{RunStrategy: cloudnativev1alpha1.RunHalted}, want: PowerRequest{State: "on"},
			spec2: machine{RunStrategy: cloudnativev1alpha1.RunAlways},
		},
		"a machine that is off is turned on with another strategy": {
			spec:  machine{RunStrategy: cloudnativev1alpha1.RunHalted},
			want:  PowerRequest{State: "on", RunStrategy: cloudnativev1alpha1.RunOnce},
			spec2: machine{RunStrategy: cloudnativev1alpha1.RunOnce},
		},
		"a machine that has ended is turned on again": {
			spec:   machine{RunStrategy: cloudnativev1alpha1.RunOnce},
			status: cloudnativev1alpha1.VirtualMachineStatus{Phase: cloudnativev1alpha1.PhaseStopped},
			want:   PowerRequest{State: "on"}, spec2: machine{RunStrategy: cloudnativev1alpha1.RunOnce, RestartAt: soon},
		},
		"a machine that runs is not turned on":         {want: PowerRequest{State: "on"}, code: CodeNothingToDo},
		"a machine is restarted":                       {want: PowerRequest{State: "restart"}, spec2: machine{RestartAt: soon}},
		"a machine that is off is not restarted":       {spec: machine{RunStrategy: cloudnativev1alpha1.RunHalted}, want: PowerRequest{State: "restart"}, code: machineOff},
		"a restart that is under way is not asked for": {spec: machine{RestartAt: before}, want: PowerRequest{State: "restart"}, code: CodeNothingToDo},
		"a machine is restarted again": {
			spec: machine{RestartAt: before}, status: cloudnativev1alpha1.VirtualMachineStatus{LastRestartTime: before},
			want: PowerRequest{State: "restart"}, spec2: machine{RestartAt: soon},
		},
		"a machine that runs is suspended": {
			spec: machine{Action: cloudnativev1alpha1.ActionActive}, want: PowerRequest{State: "suspend"}, spec2: machine{RunStrategy: cloudnativev1alpha1.RunSuspended},
		},
		"a machine that is off is not suspended": {spec: machine{RunStrategy: cloudnativev1alpha1.RunHalted}, want: PowerRequest{State: "suspend"}, code: machineOff},
		"a machine that has ended is not suspended": {
			spec: machine{RunStrategy: cloudnativev1alpha1.RunOnce}, status: cloudnativev1alpha1.VirtualMachineStatus{Phase: cloudnativev1alpha1.PhaseStopped},
			want: PowerRequest{State: "suspend"}, code: machineOff,
		},
		"a suspended machine is resumed": {
			spec: machine{RunStrategy: cloudnativev1alpha1.RunSuspended}, status: cloudnativev1alpha1.VirtualMachineStatus{Phase: cloudnativev1alpha1.PhaseSuspended},
			want: PowerRequest{State: "resume"}, spec2: machine{RunStrategy: cloudnativev1alpha1.RunAlways},
		},
		"a suspended machine is resumed with another strategy": {
			spec: machine{RunStrategy: cloudnativev1alpha1.RunSuspended}, want: PowerRequest{State: "resume", RunStrategy: cloudnativev1alpha1.RunOnce},
			spec2: machine{RunStrategy: cloudnativev1alpha1.RunOnce},
		},
		"a machine that lost its memory is not resumed": {
			spec: machine{RunStrategy: cloudnativev1alpha1.RunSuspended}, status: cloudnativev1alpha1.VirtualMachineStatus{Phase: cloudnativev1alpha1.PhaseStopped},
			want: PowerRequest{State: "resume"}, code: machineOff,
		},
		"a machine that lost its memory is turned on": {
			spec: machine{RunStrategy: cloudnativev1alpha1.RunSuspended}, status: cloudnativev1alpha1.VirtualMachineStatus{Phase: cloudnativev1alpha1.PhaseStopped},
			want: PowerRequest{State: "on"}, spec2: machine{RunStrategy: cloudnativev1alpha1.RunAlways},
		},
		"a suspended machine is turned off": {
			spec: machine{RunStrategy: cloudnativev1alpha1.RunSuspended}, want: PowerRequest{State: "off"}, spec2: machine{RunStrategy: cloudnativev1alpha1.RunHalted},
		},
		"a suspended machine is not restarted": {spec: machine{RunStrategy: cloudnativev1alpha1.RunSuspended}, want: PowerRequest{State: "restart"}, code: machineOff},
		"a machine that somebody has suspended is not restarted when they resume it": {
			status: cloudnativev1alpha1.VirtualMachineStatus{Conditions: held}, want: PowerRequest{State: "restart"}, code: machineOff,
		},
		"a machine that is not suspended is not resumed": {want: PowerRequest{State: "resume"}, code: CodeNothingToDo},
		"how it is turned off says nothing about suspend": {
			want: PowerRequest{State: "suspend", GracePeriodSeconds: new(int32(7))}, code: "Invalid",
		},
		"how it is turned off says nothing about on": {want: PowerRequest{State: "on", Mode: cloudnativev1alpha1.PowerOffHard}, code: "Invalid"},
		"when it runs says nothing about off":        {want: PowerRequest{State: "off", RunStrategy: cloudnativev1alpha1.RunOnce}, code: "Invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vm := &cloudnativev1alpha1.VirtualMachine{Spec: c.spec, Status: c.status}
			code := codeOf(t, Power(vm, &c.want, now))
			if code != c.code {
				t.Fatalf("refused with %q, want %q", code, c.code)
			}
			if code == "" {
				if diff := cmp.Diff(c.spec2, vm.Spec); diff != "" {
					t.Errorf("the spec (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestResize(t *testing.T) {
	t.Parallel()
	has := corev1.ResourceList{"cpu": resource.MustParse("2"), "rootDisk": resource.MustParse("40Gi")}
	for name, c := range map[string]struct {
		want ResizeRequest
		list corev1.ResourceList
		code string
	}{
		"what is left out stays":               {want: ResizeRequest{CPU: "4"}, list: corev1.ResourceList{"cpu": resource.MustParse("4"), "rootDisk": resource.MustParse("40Gi")}},
		"another notation is no change":        {want: ResizeRequest{CPU: "2000m"}, list: has},
		"a root disk does not shrink":          {want: ResizeRequest{RootDisk: "39Gi"}, code: diskShrinks},
		"what is not a quantity is refused":    {want: ResizeRequest{Memory: "much"}, code: "Invalid"},
		"a request for nothing is refused":     {code: "Invalid"},
		"a size that was not limited, limited": {want: ResizeRequest{Memory: "1Gi"}, list: corev1.ResourceList{"cpu": resource.MustParse("2"), "rootDisk": resource.MustParse("40Gi"), "memory": resource.MustParse("1Gi")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vm := &cloudnativev1alpha1.VirtualMachine{Spec: cloudnativev1alpha1.VirtualMachineSpec{Resource: has.DeepCopy()}}
			code := codeOf(t, Resize(vm, &c.want))
			if code != c.code {
				t.Fatalf("refused with %q, want %q", code, c.code)
			}
			if diff := cmp.Diff(c.list, vm.Spec.Resource); code == "" && diff != "" {
				t.Errorf("the size (-want +got):\n%s", diff)
			}
		})
	}
}

// revision returns a ReplicaSet of the Deployment.
func revision(of *appsv1.Deployment, number, image string) appsv1.ReplicaSet {
	return appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-" + number, Annotations: map[string]string{revisionAnnotation: number},
			OwnerReferences: []metav1.OwnerReference{{UID: of.UID, Controller: new(true)}},
		},
		Spec: appsv1.ReplicaSetSpec{Template: template(image, appsv1.DefaultDeploymentUniqueLabelKey, "hash-"+number)},
	}
}

// template returns a pod template with the image and labels.
func template(image string, labels ...string) corev1.PodTemplateSpec {
	out := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}}}
	for i := 0; i+1 < len(labels); i += 2 {
		metav1.SetMetaDataLabel(&out.ObjectMeta, labels[i], labels[i+1])
	}
	return out
}

func TestRollbackDeployment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paused bool
		number int64
		image  string
		code   string
	}{
		"the newest revision that differs": {image: "web:2"},
		"a revision by its number":         {number: 1, image: "web:1"},
		"the present revision":             {number: 3, code: CodeNothingToDo},
		"a revision that is not there":     {number: 9, code: noRevision},
		"a paused rollout":                 {paused: true, code: rolloutPaused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{UID: "a"}, Spec: appsv1.DeploymentSpec{Template: template("web:3"), Paused: c.paused}}
			foreign := revision(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{UID: "b"}}, "8", "other:1")
			sets := []appsv1.ReplicaSet{revision(of, "1", "web:1"), foreign, revision(of, "3", "web:3"), revision(of, "2", "web:2")}
			code := codeOf(t, RollbackDeployment(of, sets, RollbackRequest{ToRevision: c.number}))
			if code != c.code {
				t.Fatalf("refused with %q, want %q", code, c.code)
			}
			if diff := cmp.Diff(template(c.image).Spec, of.Spec.Template.Spec); code == "" && diff != "" {
				t.Errorf("the template (-want +got):\n%s", diff)
			}
		})
	}
	alone := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{UID: "a"}, Spec: appsv1.DeploymentSpec{Template: template("web:1")}}
	if code := codeOf(t, RollbackDeployment(alone, []appsv1.ReplicaSet{revision(alone, "1", "web:1")}, RollbackRequest{})); code != noRevision {
		t.Errorf("a single revision: %q", code)
	}
}

// TestRollbackPodSet holds that what Windlass adds to the template of the Deployment does not get into the PodSet, which would refuse
// it.
func TestRollbackPodSet(t *testing.T) {
	t.Parallel()
	podSet := &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{UID: "p"}, Spec: appsv1alpha1.PodSetSpec{NodePool: "edge"}}
	child := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{UID: "a", OwnerReferences: []metav1.OwnerReference{{UID: "p", Controller: new(true)}}},
		Spec:       appsv1.DeploymentSpec{Template: template("web:2")},
	}
	old := revision(child, "1", "web:1")
	old.Spec.Template.Labels = map[string]string{appsv1alpha1.LabelApp: "podSet", appsv1alpha1.LabelPodSet: "x", "tier": "front"}
	old.Spec.Template.Spec.RuntimeClassName = new("edge")
	if err := RollbackPodSet(podSet, child, []appsv1.ReplicaSet{old}, RollbackRequest{}); err != nil {
		t.Fatal(err)
	}
	want := template("web:1", "tier", "front")
	if diff := cmp.Diff(&want, podSet.Spec.Template); diff != "" {
		t.Errorf("the template (-want +got):\n%s", diff)
	}
	child.OwnerReferences = nil
	if code := codeOf(t, RollbackPodSet(podSet, child, []appsv1.ReplicaSet{old}, RollbackRequest{})); code != noRevision {
		t.Errorf("a foreign Deployment: %q", code)
	}
}

func TestRestart(t *testing.T) {
	t.Parallel()
	podSet := &appsv1alpha1.PodSet{}
	if err := RestartPodSet(podSet, now); err != nil {
		t.Fatal(err)
	}
	want := appsv1alpha1.DefaultTemplate()
	want.Annotations = map[string]string{restartedAt: "2100-01-02T03:04:05Z"}
	if diff := cmp.Diff(want, podSet.Spec.Template); diff != "" {
		t.Errorf("the template of a PodSet without one (-want +got):\n%s", diff)
	}
	podSet.Spec.Paused = true
	if code := codeOf(t, RestartPodSet(podSet, now)); code != rolloutPaused {
		t.Errorf("a paused PodSet: %q", code)
	}
	if code := codeOf(t, RestartDeployment(&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Paused: true}}, now)); code != rolloutPaused {
		t.Errorf("a paused Deployment: %q", code)
	}
}

func TestConsents(t *testing.T) {
	t.Parallel()
	pool := func(generation, observed int64, brake metav1.ConditionStatus) *nodesv1.NodePool {
		return &nodesv1.NodePool{
			ObjectMeta: metav1.ObjectMeta{Generation: generation},
			Status: nodesv1.NodePoolStatus{ObservedGeneration: observed, Conditions: []metav1.Condition{
				{Type: nodesv1.ConditionSafetyBrake, Status: brake},
			}},
		}
	}
	plan := func(approval clusterprovisionerv1alpha1.Approval, id string) *clusterprovisionerv1alpha1.Cluster {
		return &clusterprovisionerv1alpha1.Cluster{
			Spec:   clusterprovisionerv1alpha1.ClusterSpec{Approval: approval},
			Status: clusterprovisionerv1alpha1.ClusterStatus{Plan: &clusterprovisionerv1alpha1.Plan{ID: id}},
		}
	}
	skipped := &clusterprovisionerv1alpha1.Cluster{Status: clusterprovisionerv1alpha1.ClusterStatus{SkippedNodes: []string{"b", "a"}}}
	leaving := skipped.DeepCopy()
	leaving.DeletionTimestamp = &metav1.Time{Time: now}
	running := &clusterprovisionerv1alpha1.Cluster{Status: clusterprovisionerv1alpha1.ClusterStatus{
		LastOperation: &clusterprovisionerv1alpha1.Operation{ID: "up-1"},
	}}
	ended := running.DeepCopy()
	ended.Status.LastOperation.EndTime = &metav1.Time{Time: now}
	manual := clusterprovisionerv1alpha1.ApprovalManual
	for name, c := range map[string]struct {
		err  error
		code string
	}{
		"a brake that holds":                  {Acknowledge(pool(3, 3, metav1.ConditionTrue), AcknowledgeRequest{3}), ""},
		"a brake of an earlier generation":    {Acknowledge(pool(3, 2, metav1.ConditionTrue), AcknowledgeRequest{3}), CodeNothingToDo},
		"a brake that does not hold":          {Acknowledge(pool(3, 3, metav1.ConditionFalse), AcknowledgeRequest{3}), CodeNothingToDo},
		"a pool that has changed":             {Acknowledge(pool(4, 4, metav1.ConditionTrue), AcknowledgeRequest{3}), CodeOutdated},
		"the plan that was read":              {Approve(plan(manual, "a"), ApproveRequest{"a"}), ""},
		"another plan":                        {Approve(plan(manual, "b"), ApproveRequest{"a"}), CodeOutdated},
		"a plan that waits for nobody":        {Approve(plan("", "a"), ApproveRequest{"a"}), CodeNothingToDo},
		"no plan":                             {Approve(skipped.DeepCopy(), ApproveRequest{"a"}), CodeNothingToDo},
		"a run that has ended":                {Retry(ended, now), ""},
		"a run that is under way":             {Retry(running, now), runUnderWay},
		"the machines that were read":         {AcceptSkipped(leaving.DeepCopy(), AcceptRequest{[]string{"a", "b"}}), ""},
		"other machines":                      {AcceptSkipped(leaving.DeepCopy(), AcceptRequest{[]string{"a"}}), CodeOutdated},
		"a Cluster that is not being deleted": {AcceptSkipped(skipped.DeepCopy(), AcceptRequest{[]string{"a", "b"}}), CodeNothingToDo},
	} {
		if code := codeOf(t, c.err); code != c.code {
			t.Errorf("%s: %q, want %q", name, code, c.code)
		}
	}
}

func TestPlanDrain(t *testing.T) {
	t.Parallel()
	owned := func(kind string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{Kind: kind, Controller: new(true)}}
	}
	pods := map[string]corev1.Pod{
		"daemon":  {ObjectMeta: metav1.ObjectMeta{OwnerReferences: owned("DaemonSet")}},
		"mirror":  {ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{corev1.MirrorPodAnnotationKey: "x"}}},
		"ending":  {ObjectMeta: metav1.ObjectMeta{OwnerReferences: owned("ReplicaSet"), DeletionTimestamp: &metav1.Time{Time: now}}},
		"done":    {Status: corev1.PodStatus{Phase: corev1.PodSucceeded}},
		"alone":   {},
		"managed": {ObjectMeta: metav1.ObjectMeta{OwnerReferences: owned("ReplicaSet")}},
		"data": {
			ObjectMeta: metav1.ObjectMeta{OwnerReferences: owned("ReplicaSet")},
			Spec:       corev1.PodSpec{Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}},
		},
	}
	usual := map[string]DrainResult{
		"daemon": DrainDaemonSet, "mirror": DrainMirror, "ending": DrainEnding, "done": WouldBeEvicted, "alone": DrainUnmanaged,
		"managed": WouldBeEvicted, "data": DrainLocalData,
	}
	forced := map[string]DrainResult{
		"daemon": DrainDaemonSet, "mirror": DrainMirror, "ending": DrainEnding, "done": WouldBeEvicted, "alone": WouldBeEvicted,
		"managed": WouldBeEvicted, "data": WouldBeEvicted,
	}
	for name, pod := range pods {
		for _, c := range []struct {
			want   DrainRequest
			result DrainResult
		}{{DrainRequest{}, usual[name]}, {DrainRequest{Force: true, DeleteEmptyDirData: true}, forced[name]}} {
			if got := PlanDrain("n", []corev1.Pod{pod}, &c.want).Pods[0].Result; got != c.result {
				t.Errorf("%s with %+v is %s, want %s", name, c.want, got, c.result)
			}
		}
	}
}

// TestSpend holds that a dry run says which pods a budget keeps because others go first.
func TestSpend(t *testing.T) {
	t.Parallel()
	pods := make([]corev1.Pod, 4)
	for i := range pods {
		pods[i] = corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "a", Name: "p", Labels: map[string]string{"app": "web"},
				OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Controller: new(true)}},
			},
			Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		}
	}
	pods[1].Status.Conditions = nil // which takes nothing from a budget
	pods[3].Labels = nil            // which no budget is about
	drain := PlanDrain("n", pods, &DrainRequest{})
	drain.Spend(pods, []policyv1.PodDisruptionBudget{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1},
	}})
	drain.Count()
	var got []DrainResult
	for _, pod := range drain.Pods {
		got = append(got, pod.Result)
	}
	if diff := cmp.Diff([]DrainResult{WouldBeEvicted, WouldBeEvicted, DrainBlocked, WouldBeEvicted}, got); diff != "" {
		t.Errorf("the pods (-want +got):\n%s", diff)
	}
	if drain.Remaining != 1 || drain.Pods[2].Budget != "web" || !drain.BudgetsKnown {
		t.Errorf("the drain is %+v", drain)
	}
}
