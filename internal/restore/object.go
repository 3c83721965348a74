// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
)

// renamed is the new UID of each old one.
type renamed map[types.UID]types.UID

// note notes the new UID of an object. What somebody has added to a backup has no old one: every empty value would count as a reference to it.
func (r renamed) note(was, is types.UID) {
	if was != "" {
		r[was] = is
	}
}

// order says which objects are created, and in which order: an owner comes before what it owns.
func order() []schema.GroupKind {
	return []schema.GroupKind{
		{Kind: "Namespace"},
		{Group: rbacv1.GroupName, Kind: "RoleBinding"},
		nodesv1.SchemeGroupVersion.WithKind("NodePool").GroupKind(),
		clusterprovisionerv1alpha1.SchemeGroupVersion.WithKind("Cluster").GroupKind(),
		clusterprovisionerv1alpha1.SchemeGroupVersion.WithKind("Kubeconfig").GroupKind(),
		cloudnativev1alpha1.SchemeGroupVersion.WithKind("VirtualMachine").GroupKind(),
		appsv1alpha1.SchemeGroupVersion.WithKind("PodSet").GroupKind(),
		appsv1alpha1.SchemeGroupVersion.WithKind("PodBuggerTool").GroupKind(),
		{Kind: "Secret"},
		{Kind: "ConfigMap"},
	}
}

// runPrefix and runLabel are of Secrets that hold a run of a provisioning tool, whose name and label end with the UID of its Cluster.
const runPrefix, runLabel = "windlass-run-", "clusterprovisioner.rke.io/run-of"

// isSkipped reports whether the object is not restored: a cluster makes it by itself, or it is no affair of Windlass, or of no use in another cluster. A run
// cannot be continued there, and what it was given, such as an SSH key, would stay for as long as its Cluster, because nobody looks under this name.
func isSkipped(object *unstructured.Unstructured) bool {
	switch object.GetKind() {
	case "Secret":
		kind, _, _ := unstructured.NestedString(object.Object, "type")
		return kind == "kubernetes.io/service-account-token" || kind == "helm.sh/release.v1" ||
			object.GetLabels()[runLabel] != "" && strings.HasPrefix(object.GetName(), runPrefix)
	case "ConfigMap":
		return object.GetName() == "kube-root-ca.crt"
	case "RoleBinding":
		role, _, _ := unstructured.NestedString(object.Object, "roleRef", "name")
		return role != "windlass-secret-reader" && role != "windlass-kubeconfig-writer"
	default:
		return false
	}
}

// isUnwritten reports whether nobody has written the status of an object that is there. The API server shows the default of the CRD then.
func isUnwritten(there *unstructured.Unstructured) bool {
	served, ok := there.Object["status"].(map[string]any)
	if !ok || len(served) == 0 {
		return true
	}
	var read struct {
		Conditions []metav1.Condition `json:"conditions"`
	}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(served, &read)
	return err == nil && status.Unwritten(read.Conditions)
}

// fresh returns the object as it can be created.
func fresh(saved *unstructured.Unstructured, now renamed) *unstructured.Unstructured {
	out := saved.DeepCopy()
	delete(out.Object, "status")
	metadata := map[string]any{"name": saved.GetName()}
	if namespace := saved.GetNamespace(); namespace != "" {
		metadata["namespace"] = namespace
	}
	out.Object["metadata"] = metadata
	out.SetLabels(now.inValues(saved.GetLabels()))
	out.SetAnnotations(saved.GetAnnotations())
	out.SetFinalizers(saved.GetFinalizers())
	var owners []metav1.OwnerReference
	for _, owner := range saved.GetOwnerReferences() {
		if uid, ok := now[owner.UID]; ok { // an owner that was not restored would take the object with it
			owner.UID = uid
			owners = append(owners, owner)
		}
	}
	out.SetOwnerReferences(owners)
	return out
}

// isApplied reports whether Windlass applies the object: what it keeps for a Cluster or a Kubeconfig.
func isApplied(object *unstructured.Unstructured) bool {
	if !slices.Contains([]string{"Secret", "ConfigMap", "Kubeconfig"}, object.GetKind()) {
		return false
	}
	if object.GetLabels()[clusterprovisionerv1alpha1.ClusterUIDLabel] != "" { // the Secret with a state has no owner
		return true
	}
	return slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).Group == clusterprovisionerv1alpha1.GroupName
	})
}

// withoutContent returns an object that Windlass applies without what it takes away again from time to time.
func withoutContent(object *unstructured.Unstructured) *unstructured.Unstructured {
	out := object.DeepCopy()
	unstructured.RemoveNestedField(out.Object, "data")
	unstructured.RemoveNestedField(out.Object, "spec", "configPath")
	return out
}

// inValues returns the labels with new UIDs.
func (r renamed) inValues(labels map[string]string) map[string]string {
	out := maps.Clone(labels)
	for key, value := range out {
		if uid, ok := r[types.UID(value)]; ok {
			out[key] = string(uid)
		}
	}
	return out
}

// statusOf returns the saved status for an object that was created from it, nil if there was none.
func statusOf(saved, created *unstructured.Unstructured, now renamed) map[string]any {
	was, ok := saved.Object["status"].(map[string]any)
	if !ok || len(was) == 0 {
		return nil
	}
	generations := map[int64]int64{saved.GetGeneration(): created.GetGeneration()}
	out, _ := now.in(was, generations).(map[string]any)
	if server, ok := out["server"].(map[string]any); ok && saved.GetKind() == "VirtualMachine" {
		server["uid"] = firstUID(saved, "server", "uid")
	}
	if account, _ := out["serviceAccount"].(string); account != "" && saved.GetKind() == "Kubeconfig" {
		out["originalUID"] = firstUID(saved, "originalUID")
	}
	return out
}

// firstUID returns the UID that the object had before it was restored for the first time: the status has it there if the object was restored
// before.
func firstUID(saved *unstructured.Unstructured, in ...string) string {
	if noted, _, _ := unstructured.NestedString(saved.Object, append([]string{"status"}, in...)...); noted != "" {
		return noted
	}
	return string(saved.GetUID())
}

// in returns a value with new UIDs and generations. A generation that is not the present one of the backup was observed of a spec that is not
// there any more: then nothing was observed of this one.
func (r renamed) in(value any, generations map[int64]int64) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if was, ok := value[key].(int64); ok && key == "observedGeneration" {
				out[key] = generations[was]
				continue
			}
			out[key] = r.in(value[key], generations)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i := range value {
			out[i] = r.in(value[i], generations)
		}
		return out
	case string:
		if uid, ok := r[types.UID(value)]; ok {
			return string(uid)
		}
	}
	return value
}
