// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

func TestTrimNodeKeepsWhatControllersRead(t *testing.T) {
	t.Parallel()
	taints := []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
	got, err := trimNode(newInterner())(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: "n", UID: "u", ResourceVersion: "7", Labels: map[string]string{"a": "b"},
			Annotations: map[string]string{
				nodesv1.AppliedAnnotation: strings.Repeat("r", 2000), "short": "kept", "long": strings.Repeat("l", 2000),
			},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "dropped"}},
		},
		Spec: corev1.NodeSpec{Taints: taints, ProviderID: "dropped"},
		Status: corev1.NodeStatus{
			Images: []corev1.ContainerImage{{Names: []string{"dropped"}}},
			Conditions: []corev1.NodeCondition{
				{Type: corev1.NodeMemoryPressure},
				{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now(), Message: "dropped"},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: "n", UID: "u", ResourceVersion: "7", Labels: map[string]string{"a": "b"},
			Annotations: map[string]string{
				nodesv1.AppliedAnnotation: strings.Repeat("r", 2000), "short": "kept", "long": strings.Repeat("l", 1025),
			},
		},
		Spec:   corev1.NodeSpec{Taints: taints},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("node differs (-want +got):\n%s", diff)
	}
}

// An annotation that was cut inside of a character was noted with another one in its place, so that it was noted again in each pass. One that a pool may
// put on nodes was cut too, and written again in each pass.
func TestAnnotationsAreCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		value string
		want  int // characters
	}{
		"the longest of a pool":                      {strings.Repeat("a", nodesv1.MaxAnnotationValue), nodesv1.MaxAnnotationValue},
		"the longest of a pool, of three bytes each": {strings.Repeat("世", nodesv1.MaxAnnotationValue), nodesv1.MaxAnnotationValue},
		"a longer one":                               {strings.Repeat("a", 2000), nodesv1.MaxAnnotationValue + 1},
		"a longer one, of three bytes each":          {strings.Repeat("世", 2000), nodesv1.MaxAnnotationValue + 1},
		"a longer one that begins with one byte":     {"a" + strings.Repeat("世", 2000), nodesv1.MaxAnnotationValue + 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := shorten(map[string]string{"a": tc.value})["a"]
			if utf8.RuneCountInString(got) != tc.want || !utf8.ValidString(got) || !strings.HasPrefix(tc.value, got) {
				t.Errorf("%d characters of %d are kept, want %d: %t", utf8.RuneCountInString(got), utf8.RuneCountInString(tc.value), tc.want, utf8.ValidString(got))
			}
			if again := shorten(map[string]string{"a": got})["a"]; again != got {
				t.Error("the second time cuts again")
			}
		})
	}
}

// 40 PodSets of more than a megabyte each took the manager from 71 to 330 MB.
func TestAttackLargePodSetsFillTheCache(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 1<<20)
	got, err := trimPodSet(&appsv1alpha1.PodSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: "large", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "dropped"}},
			Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": large[:200<<10]},
		},
		Spec: appsv1alpha1.PodSetSpec{Size: 3, Template: &corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Env: []corev1.EnvVar{{Name: "E", Value: large}}}}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) > len(large)/100 {
		t.Errorf("the cache keeps %d bytes, more than a hundredth of %d", len(raw), len(large))
	}
	kept, ok := got.(*appsv1alpha1.PodSet)
	if !ok || kept.Spec.Size != 3 || Dropped(kept) == "" {
		t.Errorf("the cache keeps %+v, want the size of the set and that of the template", got)
	}
}

// A Deployment was kept whole if it had the label of PodSets, which anybody can set, and a PodDisruptionBudget always.
func TestAttackLargeChildrenFillTheCache(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 1<<20)
	for whose, test := range map[string]struct {
		owners []metav1.OwnerReference
		owned  bool
	}{
		"nobody's":                        {},
		"of somebody else":                {owners: []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "PodSet", Name: large, UID: "u", Controller: new(true)}}},
		"of a PodSet":                     {owners: ownedBy("u"), owned: true},
		"of what cannot be a PodSet":      {owners: ownedBy(types.UID(large))},
		"of a PodSet and of a thousand":   {owners: append(ownedBy("u"), metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: large, UID: "v"}), owned: true},
		"of a PodSet that does not do it": {owners: []metav1.OwnerReference{{APIVersion: "apps.jicki.cn/v1alpha1", Kind: "PodSet", Name: "web", UID: "u"}}},
	} {
		meta := metav1.ObjectMeta{
			Name: "web", UID: "c", Labels: map[string]string{appsv1alpha1.LabelApp: appsv1alpha1.LabelAppValue, "large": large}, OwnerReferences: test.owners,
		}
		for _, object := range []client.Object{
			&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: new(int32(3)), Template: corev1.PodTemplateSpec{
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Env: []corev1.EnvVar{{Name: "E", Value: large}}}}},
			}}},
			&policyv1.PodDisruptionBudget{ObjectMeta: meta, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: []string{large}}},
			}}},
		} {
			got, size := trimmed(t, object)
			if size > 4<<10 || got.GetName() != "web" || got.GetUID() != "c" {
				t.Errorf("%T %s: the cache keeps %d bytes of %q", object, whose, size, got.GetName())
			}
			if owner := metav1.GetControllerOf(got); (owner != nil) != test.owned || (Dropped(got) != "") != test.owned {
				t.Errorf("%T %s: the cache keeps the owner %v, and %q as what it dropped", object, whose, owner, Dropped(got))
			}
		}
	}
}

// ownedBy are the owners of a child of a PodSet.
func ownedBy(uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "apps.jicki.cn/v1alpha1", Kind: "PodSet", Name: "web", UID: uid, Controller: new(true)}}
}

// trimmed returns what the caches keep of an object, and how many bytes that has.
func trimmed(t *testing.T, object client.Object) (client.Object, int) {
	t.Helper()
	options := CacheOptions(NewScheme())
	transform := options.DefaultTransform
	for kind, by := range options.ByObject {
		if reflect.TypeOf(kind) == reflect.TypeOf(object) {
			transform = by.Transform
		}
	}
	got, err := transform(object.DeepCopyObject())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	kept, ok := got.(client.Object)
	if !ok {
		t.Fatalf("%T is no object", got)
	}
	return kept, len(raw)
}

// kubectl keeps a copy of each object in an annotation of up to 256 KiB, and so did the manager.
func TestAttackNotesOnObjectsFillTheCache(t *testing.T) {
	t.Parallel()
	notes := map[string]string{"kubectl.kubernetes.io/last-applied-configuration": strings.Repeat("x", 200<<10), "short": "kept"}
	child := metav1.ObjectMeta{OwnerReferences: ownedBy("u")}
	for _, object := range []client.Object{
		&appsv1alpha1.PodSet{}, &appsv1alpha1.PodBuggerTool{}, &cloudnativev1alpha1.VirtualMachine{}, &clusterprovisionerv1alpha1.Cluster{},
		&clusterprovisionerv1alpha1.Kubeconfig{}, &corev1.Node{}, &appsv1.Deployment{ObjectMeta: child}, &policyv1.PodDisruptionBudget{ObjectMeta: child},
	} {
		object.SetAnnotations(maps.Clone(notes))
		object.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: strings.Repeat("x", 100<<10)}})
		got, size := trimmed(t, object)
		if kept := got.GetAnnotations()["short"]; size > 4<<10 || kept != "kept" {
			t.Errorf("%T: the cache keeps %d bytes of notes, and %q of a short one", object, size, kept)
		}
	}
}

func TestTrimPodSetKeepsWhatControllersRead(t *testing.T) {
	t.Parallel()
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "busybox"}}}}
	got, err := trimPodSet(&appsv1alpha1.PodSet{
		ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u", Annotations: map[string]string{
			"windlass.io/paused": "true",
		}},
		Spec: appsv1alpha1.PodSetSpec{Size: 2, Template: template},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &appsv1alpha1.PodSet{
		ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u", Annotations: map[string]string{"windlass.io/paused": "true"}},
		Spec:       appsv1alpha1.PodSetSpec{Size: 2, Template: template},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PodSet differs (-want +got):\n%s", diff)
	}
}

// A manager that started beside a PodSet with a template that is too large ran the default container: its informer had trimmed the object
// twice, and the second time nothing was too large.
func TestTransformsCanBeRepeated(t *testing.T) {
	t.Parallel()
	long := map[string]string{"a": strings.Repeat("x", 1<<20)}
	large := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: long}}
	for name, tc := range map[string]struct {
		transform func(any) (any, error)
		object    client.Object
	}{
		"Node": {trimNode(newInterner()), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: long}, Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Message: "dropped"}},
		}}},
		"Pod":        {trimPod(newInterner()), &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n", HostIPC: true}}},
		"Deployment": {trimDeployment, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Annotations: long}}},
		"Deployment, too large": {trimDeployment, &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{OwnerReferences: ownedBy("u")}, Spec: appsv1.DeploymentSpec{Template: *large},
		}},
		"PodDisruptionBudget, too large": {trimBudget, &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{OwnerReferences: ownedBy("u"), Labels: long}, Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(1))},
		}},
		"VirtualMachine":    {trimNotes, &cloudnativev1alpha1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Annotations: long}}},
		"PodSet":            {trimPodSet, &appsv1alpha1.PodSet{Spec: appsv1alpha1.PodSetSpec{Size: 1}}},
		"PodSet, too large": {trimPodSet, &appsv1alpha1.PodSet{Spec: appsv1alpha1.PodSetSpec{Template: large}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tc.transform(tc.object.DeepCopyObject())
			if err != nil {
				t.Fatal(err)
			}
			once, ok := got.(client.Object)
			if !ok {
				t.Fatalf("%T is no object", got)
			}
			twice, err := tc.transform(once.DeepCopyObject())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(once, twice); diff != "" {
				t.Errorf("the second time changes the object (-once +twice):\n%s", diff)
			}
		})
	}
}

// A user who could set the note of the caches would stop their PodSet with a wrong message.
func TestAttackANoteOfTheCachesIsForged(t *testing.T) {
	t.Parallel()
	if problems := validation.IsQualifiedName(droppedBytes); len(problems) == 0 {
		t.Errorf("the API server accepts the annotation %q", droppedBytes)
	}
}

// A Deployment that lost the label of PodSets was kept without its hash, so that its repair was told as an update.
func TestTrimDeploymentKeepsWhatControllersRead(t *testing.T) {
	t.Parallel()
	want := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"app": "other"}, Annotations: map[string]string{"a": "b"}, OwnerReferences: ownedBy("u")},
		Spec:       appsv1.DeploymentSpec{Replicas: new(int32(3)), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeName: "n"}}},
		Status:     appsv1.DeploymentStatus{Replicas: 3},
	}
	got, err := trimDeployment(want.DeepCopy())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Deployment differs (-want +got):\n%s", diff)
	}
}

func TestTransformsPassOnWhatTheyDoNotKnow(t *testing.T) {
	t.Parallel()
	for _, transform := range []func(any) (any, error){trimNode(newInterner()), trimPod(newInterner()), trimDeployment, trimBudget, trimPodSet, trimNotes} {
		if got, err := transform("tombstone"); err != nil || got != "tombstone" {
			t.Errorf("got %v, %v", got, err)
		}
	}
}
