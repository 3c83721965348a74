// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// specimens is how many objects of each kind are compared.
const specimens = 40

// specimenOf is the label of all of them.
const specimenOf = "specimen"

// TestTablesAreThoseOfTheAPIServer makes objects of many shapes, and compares our tables with those of the API server, cell by cell.
func TestTablesAreThoseOfTheAPIServer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin, ns := r.user(t, "", everything()), r.Namespace(t)
	random := rand.New(rand.NewPCG(1, 2))
	makers := map[string]func(name string) client.Object{
		"pods":        func(name string) client.Object { return randomPod(random, ns, name) },
		"nodes":       func(name string) client.Object { return randomNode(random, ns+"-"+name) },
		"services":    func(name string) client.Object { return randomService(random, ns, name) },
		"deployments": func(name string) client.Object { return randomDeployment(random, ns, name) },
		"events":      func(name string) client.Object { return randomEvent(random, ns, name) },
		"nodepools":   func(name string) client.Object { return randomPool(random, ns+"-"+name) },
		"virtualmachines": func(name string) client.Object {
			return randomMachine(random, ns, name)
		},
	}
	for _, kind := range slices.Sorted(maps.Keys(makers)) {
		for i := range specimens {
			object := makers[kind](fmt.Sprintf("s%d", i))
			labels := map[string]string{specimenOf: ns} // an API server makes events of its own
			maps.Copy(labels, object.GetLabels())
			object.SetLabels(labels)
			wanted, _ := object.DeepCopyObject().(client.Object)
			if err := r.Live.Create(t.Context(), object); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if object.GetNamespace() == "" { // other tests list them, too
				t.Cleanup(func() { must(t, client.IgnoreNotFound(r.Live.Delete(context.WithoutCancel(t.Context()), wanted))) })
			}
			wanted.SetResourceVersion(object.GetResourceVersion())
			wanted.SetUID(object.GetUID())
			if kind != "events" {
				if err := r.Live.Status().Update(t.Context(), wanted); err != nil {
					t.Fatalf("the status of %s: %v", kind, err)
				}
			}
			if pod, ok := wanted.(*corev1.Pod); ok && i%3 == 0 && pod.Spec.NodeName != "" &&
				(pod.Status.Phase == corev1.PodPending || pod.Status.Phase == corev1.PodRunning) {
				// It is being deleted until a kubelet says that it has ended.
				must(t, r.Live.Delete(t.Context(), pod, client.GracePeriodSeconds(3600)))
			}
		}
	}
	for kind := range makers {
		query := "?labelSelector=" + specimenOf + "=" + ns
		want := r.serverTable(t, kind, ns, query)
		if len(want.Rows) != specimens {
			t.Fatalf("the API server has %d %s, want %d", len(want.Rows), kind, specimens)
		}
		var got view.Table
		testkit.Eventually(t, "the store of "+kind+" has caught up", func() bool {
			got = read[view.Table](t, r.do(t, http.MethodGet, "/v1/tables/"+kind+query, admin, ""))
			return cmp.Equal(versions(t, &want), versions(t, &got))
		})
		compareTables(t, kind, &want, &got)
	}
}

// compareTables compares what both say of each object. A time that has passed may have become longer by a little in between.
func compareTables(t *testing.T, kind string, want, got *view.Table) {
	t.Helper()
	if diff := cmp.Diff(want.Columns, got.Columns); diff != "" {
		t.Errorf("columns of %s (-server +gateway):\n%s", kind, diff)
	}
	ages := map[int]bool{}
	for i, column := range want.Columns {
		ages[i] = column.Type == "date" || strings.HasSuffix(column.Name, "Seen") || column.Name == "Age"
	}
	byName := func(table *view.Table) map[string][]any {
		out := map[string][]any{}
		for _, row := range table.Rows {
			cells := append([]any{}, row.Cells...)
			for i := range cells {
				if ages[i] && isDuration(cells[i]) {
					cells[i] = "a duration"
				} else if text, ok := cells[i].(string); ok && column(table, i) == "Restarts" {
					cells[i], _, _ = strings.Cut(text, "(") // what follows is a duration
				}
			}
			out[partOf(t, row.Object).Name] = cells
		}
		return out
	}
	if diff := cmp.Diff(byName(want), byName(got), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rows of %s (-server +gateway):\n%s", kind, diff)
	}
	for _, row := range got.Rows {
		if object := partOf(t, row.Object); object.Kind != "PartialObjectMetadata" || object.UID == "" || object.ManagedFields != nil {
			t.Fatalf("the object of a row of %s is %s", kind, row.Object)
		}
	}
}

// versions returns the version of each object.
func versions(t *testing.T, table *view.Table) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, row := range table.Rows {
		object := partOf(t, row.Object)
		out[object.Name] = object.ResourceVersion
	}
	return out
}

// partOf reads the object of a row, which has its metadata only.
func partOf(t *testing.T, raw view.Object) metav1.PartialObjectMetadata {
	t.Helper()
	var out metav1.PartialObjectMetadata
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	must(t, decoder.Decode(&out))
	return out
}

func column(table *view.Table, i int) string { return table.Columns[i].Name }

// isDuration reports whether the cell is a duration such as 5m.
func isDuration(cell any) bool {
	text, ok := cell.(string)
	return ok && text != "" && strings.Trim(text, "0123456789ydhms") == "" && strings.ContainsAny(text, "ydhms")
}

// serverTable returns the table of the API server.
func (r *rig) serverTable(t *testing.T, kind, ns, query string) view.Table {
	t.Helper()
	k := kindOf(t, kind)
	if !k.Namespaced {
		ns = ""
	}
	server, err := rest.HTTPClientFor(r.Config)
	must(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		strings.TrimSuffix(r.Config.Host, "/")+k.Path(ns, "", "")+query, http.NoBody)
	must(t, err)
	request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	response, err := server.Do(request)
	must(t, err)
	defer func() { must(t, response.Body.Close()) }()
	raw, err := io.ReadAll(response.Body)
	must(t, err)
	var out view.Table
	must(t, json.Unmarshal(raw, &out))
	return out
}

func kindOf(t *testing.T, plural string) *view.Kind {
	t.Helper()
	for _, k := range view.Kinds() {
		if k.Plural == plural {
			return &k
		}
	}
	t.Fatalf("no kind %q", plural)
	return nil
}

// one returns one of the values.
func one[T any](random *rand.Rand, values ...T) T { return values[random.IntN(len(values))] }

// past returns a time in the last days, long enough ago that its age has one text while a test runs.
func past(random *rand.Rand) metav1.Time {
	return metav1.NewTime(time.Now().Add(-time.Duration(1+random.IntN(200)) * 24 * time.Hour))
}

func randomState(random *rand.Rand) corev1.ContainerState {
	switch random.IntN(6) {
	case 0:
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: one(random, "", "PodInitializing", "CrashLoopBackOff", "ImagePullBackOff")}}
	case 1, 2:
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: one[int32](random, 0, 1, 137), Signal: one[int32](random, 0, 0, 9), Reason: one(random, "", "Completed", "Error", "OOMKilled"),
			FinishedAt: past(random),
		}}
	case 3:
		return corev1.ContainerState{}
	default:
		return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: past(random)}}
	}
}

func randomStatus(random *rand.Rand, name string) corev1.ContainerStatus {
	out := corev1.ContainerStatus{
		Name: name, RestartCount: one[int32](random, 0, 0, 3), Ready: one(random, true, false), Started: one(random, nil, new(true), new(false)),
		State: randomState(random),
	}
	if random.IntN(2) == 0 {
		out.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{FinishedAt: past(random)}
	}
	return out
}

func randomCondition(random *rand.Rand) corev1.ConditionStatus {
	return one(random, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown)
}

func randomPod(random *rand.Rand, ns, name string) *corev1.Pod {
	always := corev1.ContainerRestartPolicyAlways
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	pod.Spec.NodeName = one(random, "", "node-"+name)
	for i := range random.IntN(4) {
		init := corev1.Container{Name: fmt.Sprintf("init%d", i), Image: "i", RestartPolicy: one(random, nil, &always)}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, init)
		pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, randomStatus(random, init.Name))
	}
	for i := range 1 + random.IntN(3) {
		container := corev1.Container{Name: fmt.Sprintf("c%d", i), Image: "i"}
		pod.Spec.Containers = append(pod.Spec.Containers, container)
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, randomStatus(random, container.Name))
	}
	for i := range random.IntN(3) {
		gate := corev1.PodConditionType(fmt.Sprintf("example.com/gate%d", i))
		pod.Spec.ReadinessGates = append(pod.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: gate})
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: gate, Status: randomCondition(random)})
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodInitialized, corev1.PodReady, corev1.PodScheduled} {
		condition := corev1.PodCondition{Type: kind, Status: randomCondition(random)}
		if kind == corev1.PodScheduled {
			condition.Reason = one(random, "", "", corev1.PodReasonSchedulingGated)
		}
		pod.Status.Conditions = append(pod.Status.Conditions, condition)
	}
	pod.Status.Phase = one(random, corev1.PodPending, corev1.PodRunning, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed)
	pod.Status.Reason = one(random, "", "", "", "Evicted", "NodeLost")
	if pod.Spec.NodeName == "" {
		pod.Status.NominatedNodeName = one(random, "", "nominated")
	}
	if random.IntN(2) == 0 {
		pod.Status.PodIP = "10.0.0.7"
		pod.Status.PodIPs = []corev1.PodIP{{IP: "10.0.0.7"}, {IP: "fd00::7"}}
	}
	return pod
}

func randomNode(random *rand.Rand, name string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	for _, label := range []string{"node-role.kubernetes.io/worker", "node-role.kubernetes.io/control-plane", "kubernetes.io/role"} {
		if random.IntN(2) == 0 {
			node.Labels[label] = one(random, "", "worker", "other")
		}
	}
	node.Spec.Unschedulable = one(random, false, true)
	if random.IntN(4) > 0 {
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: randomCondition(random)}}
	}
	for i, kind := range []corev1.NodeAddressType{corev1.NodeHostName, corev1.NodeInternalIP, corev1.NodeInternalIP, corev1.NodeExternalIP} {
		if random.IntN(2) == 0 {
			node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: kind, Address: fmt.Sprintf("10.0.%d.%d", i, random.IntN(200))})
		}
	}
	node.Status.NodeInfo = corev1.NodeSystemInfo{
		KubeletVersion: one(random, "", "v1.37.1"), OSImage: one(random, "", "Debian"), KernelVersion: one(random, "", "6.1"),
		ContainerRuntimeVersion: one(random, "", "containerd://2"),
	}
	return node
}

func randomService(random *rand.Rand, ns, name string) *corev1.Service {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	service.Spec.Type = one(random, corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeExternalName)
	if random.IntN(2) == 0 {
		service.Spec.Selector = map[string]string{"app": "web", "b": "c"}
	}
	if random.IntN(3) == 0 {
		service.Spec.ExternalIPs = []string{"192.0.2.7", "192.0.2.1"}
	}
	for i := range 1 + random.IntN(2) {
		service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{
			Name: fmt.Sprintf("p%d", i), Port: int32(80 + i), Protocol: one(random, corev1.ProtocolTCP, corev1.ProtocolUDP),
		})
	}
	switch service.Spec.Type {
	case corev1.ServiceTypeExternalName:
		service.Spec.ExternalName = "example.com"
	case corev1.ServiceTypeClusterIP:
		service.Spec.ClusterIP = one(random, "", "None")
	case corev1.ServiceTypeLoadBalancer:
		for range random.IntN(3) {
			ingress := corev1.LoadBalancerIngress{IP: fmt.Sprintf("192.0.2.%d", random.IntN(9))}
			if random.IntN(2) == 0 {
				ingress = corev1.LoadBalancerIngress{Hostname: one(random, "b.example.com", "a-long-name-of-a-load-balancer.example.com")}
			}
			service.Status.LoadBalancer.Ingress = append(service.Status.LoadBalancer.Ingress, ingress)
		}
	case corev1.ServiceTypeNodePort:
	}
	return service
}

func randomDeployment(random *rand.Rand, ns, name string) *appsv1.Deployment {
	labels := map[string]string{"app": name, "tier": "b"}
	out := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	out.Spec.Replicas = one(random, nil, new(int32(0)), new(int32(5)))
	out.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	if random.IntN(2) == 0 {
		out.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{name, "x"}}}
	}
	out.Spec.Template.Labels = labels
	for i := range 1 + random.IntN(3) {
		out.Spec.Template.Spec.Containers = append(out.Spec.Template.Spec.Containers, corev1.Container{Name: fmt.Sprintf("c%d", i), Image: fmt.Sprintf("image:%d", i)})
	}
	out.Status = appsv1.DeploymentStatus{Replicas: 5, UpdatedReplicas: random.Int32N(5), ReadyReplicas: 4, AvailableReplicas: random.Int32N(4)}
	return out
}

func randomEvent(random *rand.Rand, ns, name string) *corev1.Event {
	out := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: ns, Name: name},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: ns, Name: one(random, "web", ""), FieldPath: one(random, "", "spec.containers{c}")},
		Reason:         "Tried", Message: one(random, "it failed", "  with spaces \n", `"quoted" <b>`), Type: one(random, "Normal", "Warning"),
		Source: corev1.EventSource{Component: one(random, "", "kubelet"), Host: one(random, "", "node")}, Count: one[int32](random, 0, 1, 7),
	}
	if random.IntN(2) == 0 {
		out.FirstTimestamp, out.LastTimestamp = past(random), past(random)
	}
	if random.IntN(2) == 0 {
		out.EventTime, out.Action = metav1.NewMicroTime(past(random).Time), "Try"
		out.ReportingController, out.ReportingInstance = "example.com/one", "one-0"
		if random.IntN(2) == 0 {
			out.Series = &corev1.EventSeries{Count: 9, LastObservedTime: metav1.NewMicroTime(past(random).Time)}
		}
	}
	return out
}

func randomPool(random *rand.Rand, name string) *nodesv1.NodePool {
	out := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	out.Spec.Labels = map[string]nodesv1.LabelValue{"example.com/pool": "specimen"}
	out.Spec.Handler = one(random, "", "runc")
	if random.IntN(3) > 0 {
		out.Status.Conditions = []metav1.Condition{{
			Type: "Ready", Status: one(random, metav1.ConditionTrue, metav1.ConditionFalse), Reason: one(random, nodesv1.ReasonNoNodes, "Ready"), LastTransitionTime: metav1.Now(),
		}}
		out.Status.ObservedGeneration = 1
	}
	return out
}

func randomMachine(random *rand.Rand, ns, name string) *cloudnativev1alpha1.VirtualMachine {
	out := &cloudnativev1alpha1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	out.Spec.Driver = "simulated"
	out.Spec.Resource = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	out.Status.Phase = one(random, "", cloudnativev1alpha1.PhaseActive)
	if random.IntN(2) == 0 {
		out.Status.Server = &cloudnativev1alpha1.Server{Driver: "simulated", Host: "here"}
		out.Status.Server.Usage = &cloudnativev1alpha1.Usage{CPU: one[cloudnativev1alpha1.Percent](random, 0, 12.5, 100), Memory: 33.3, SampledAt: new(past(random))}
	}
	return out
}
