// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// step is a part of what makes a fault. It is repeated until it succeeds.
type step struct {
	does string
	take func(ctx context.Context, r *trial) error
}

// namespace makes the namespace of the fault.
func (r *trial) namespace(ctx context.Context) error {
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.fault.id, Labels: map[string]string{"fault": r.fault.id}}}
	return ignoreExists(r.Client.Create(ctx, object))
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// have creates the objects of a manifest, in their order. An object without a namespace of a kind that has them is in that of the fault.
func have(manifest string) step {
	return step{"create " + manifest, func(ctx context.Context, r *trial) error {
		for document := range strings.SplitSeq(manifest, "\n---\n") {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(r.fill(document)), &object.Object); err != nil {
				return err
			}
			namespaced, err := r.Client.IsObjectNamespaced(object)
			if err != nil {
				return err
			}
			if namespaced && object.GetNamespace() == "" {
				object.SetNamespace(r.fault.id)
			}
			if err := ignoreExists(r.Client.Create(ctx, object)); err != nil {
				return err
			}
		}
		return nil
	}}
}

// refused waits until an admission policy of the fault refuses an object, with a text: the API server takes a moment to read the policy.
func refused(text, manifest string) step {
	return step{"see that the API server refuses " + manifest, func(ctx context.Context, r *trial) error {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(r.fill(manifest)), &object.Object); err != nil {
			return err
		}
		if object.GetKind() == "Pod" {
			object.SetNamespace(r.fault.id)
		}
		err := r.Client.Create(ctx, object, client.DryRunAll)
		if err != nil && strings.Contains(err.Error(), text) {
			return nil
		}
		return errors.Join(errors.New("it does not"), err)
	}}
}

// admitted waits until the API server gives a pod a field when it is created: it takes a moment to read the policy that does.
func admitted(manifest, path, value string) step {
	return step{"see what the API server makes of " + manifest, func(ctx context.Context, r *trial) error {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(r.fill(manifest)), &object.Object); err != nil {
			return err
		}
		object.SetNamespace(r.fault.id)
		if err := r.Client.Create(ctx, object, client.DryRunAll); err != nil {
			return err
		}
		if got := field(object, path); !strings.Contains(got, r.fill(value)) {
			return fmt.Errorf("%s is %q", path, got)
		}
		return nil
	}}
}

// change patches an object: kind/name or kind/namespace/name, with a merge patch in YAML.
func change(what, patch string) step {
	return step{"change " + what, func(ctx context.Context, r *trial) error {
		object, err := r.object(what)
		if err != nil {
			return err
		}
		raw, err := yaml.YAMLToJSON([]byte(r.fill(patch)))
		if err != nil {
			return err
		}
		return r.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, raw))
	}}
}

// remove asks for the deletion of an object.
func remove(what string) step {
	return step{"delete " + what, func(ctx context.Context, r *trial) error {
		object, err := r.object(what)
		if err != nil {
			return err
		}
		return client.IgnoreNotFound(r.Client.Delete(ctx, object))
	}}
}

// until waits until the field of an object is a value, or has it as an element or a part. Of conditions it is the reason:
// status.conditions[Ready].
func until(what, path, value string) step {
	return step{fmt.Sprintf("wait until %s of %s is %q", path, what, value), func(ctx context.Context, r *trial) error {
		object, err := r.object(what)
		if err != nil {
			return err
		}
		if err := r.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		got := field(object, r.fill(path))
		if !strings.Contains(got, r.fill(value)) {
			return fmt.Errorf("it is %q", got)
		}
		return nil
	}}
}

// field returns a field as a text.
func field(object *unstructured.Unstructured, path string) string {
	if kind, isCondition := strings.CutPrefix(path, "status.conditions["); isCondition {
		conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
		for _, c := range conditions {
			if c, ok := c.(map[string]any); ok && c["type"] == strings.TrimSuffix(kind, "]") {
				return fmt.Sprintf("%v, %v", c["status"], c["reason"])
			}
		}
		return ""
	}
	found, _, _ := unstructured.NestedFieldNoCopy(object.Object, strings.Split(path, ".")...)
	return fmt.Sprint(found)
}

// object returns an empty object of a kind/name or kind/namespace/name. The namespace of a fault need not be named.
func (r *trial) object(what string) (*unstructured.Unstructured, error) {
	parts := strings.Split(r.fill(what), "/")
	kind, known := kinds()[parts[0]]
	if !known {
		return nil, fmt.Errorf("kind %s is not in the table", parts[0])
	}
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(kind.version)
	object.SetKind(kind.kind)
	object.SetName(parts[len(parts)-1])
	if len(parts) == 3 {
		object.SetNamespace(parts[1])
	} else if kind.namespaced {
		object.SetNamespace(r.fault.id)
	}
	return object, nil
}

// firstPod returns the name of the first pod of the namespace.
func (r *trial) firstPod(ctx context.Context) (string, error) {
	pods := &corev1.PodList{}
	if err := r.Client.List(ctx, pods, client.InNamespace(r.fault.id)); err != nil {
		return "", err
	}
	if len(pods.Items) == 0 {
		return "", errors.New("there are no pods")
	}
	slices.SortFunc(pods.Items, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods.Items[0].Name, nil
}

// node creates a simulated node with 4 CPUs that has the label fault=$.
func node(name string, changes ...func(*corev1.Node)) step {
	return step{"create node " + name, func(ctx context.Context, r *trial) error {
		object := build.Node(r.fill(name)).Ready(corev1.ConditionTrue).Allocatable("cpu", "4", "memory", "8Gi", "pods", "20").Obj()
		object.Labels = map[string]string{"fault": r.fault.id, corev1.LabelHostname: object.Name}
		object.Annotations = map[string]string{"kwok.x-k8s.io/node": "fake"}
		object.Status.Capacity = object.Status.Allocatable
		for i := range object.Status.Conditions {
			object.Status.Conditions[i].LastHeartbeatTime = metav1.NewTime(time.Now())
		}
		for _, c := range changes {
			c(object)
		}
		if err := ignoreExists(r.Client.Create(ctx, object)); err != nil {
			return err
		}
		return r.opened(ctx, object)
	}}
}

// opened waits until the control plane has taken the taint of nodes that have just come off a ready one.
func (r *trial) opened(ctx context.Context, made *corev1.Node) error {
	if made.Annotations == nil {
		return nil
	}
	now := &corev1.Node{}
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(made), now); err != nil {
		return err
	}
	if slices.ContainsFunc(now.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeNotReady }) {
		return errors.New("it has the taint of a node that has just come")
	}
	return nil
}

// notReady makes a node that nobody simulates, and that is not ready.
func notReady(n *corev1.Node) {
	n.Annotations = nil
	n.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady", Message: "container runtime network not ready",
		LastHeartbeatTime: metav1.NewTime(time.Now()), LastTransitionTime: metav1.NewTime(time.Now()),
	}}
}

func cordoned(n *corev1.Node) { n.Spec.Unschedulable = true }

func label(key, value string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Labels[key] = value }
}

func taint(key string) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: "yes", Effect: corev1.TaintEffectNoSchedule})
	}
}

func handlers(names ...string) func(*corev1.Node) {
	return func(n *corev1.Node) {
		for _, name := range names {
			n.Status.RuntimeHandlers = append(n.Status.RuntimeHandlers, corev1.NodeRuntimeHandler{Name: name})
		}
	}
}

func allocatable(name corev1.ResourceName, amount string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Status.Allocatable[name] = resource.MustParse(amount) }
}

// adminKubeconfig writes the kubeconfig of the control plane.
func adminKubeconfig(name string) step {
	return step{"write " + name, func(ctx context.Context, r *trial) error {
		raw, err := os.ReadFile(r.Admin)
		if err != nil {
			return err
		}
		return file(name, string(raw)).take(ctx, r)
	}}
}

// file writes a file below the directory for configurations.
func file(name, text string) step {
	return step{"write " + name, func(_ context.Context, r *trial) error {
		path := filepath.Join(r.configs, r.fill(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(r.fill(text)), 0o600)
	}}
}
