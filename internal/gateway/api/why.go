// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/inquiry"
	"github.com/windlass-operator/windlass/internal/why"
)

type whyInput struct{ Target }

type whyNodeInput struct {
	Target

	Pool string `query:"pool" maxLength:"253" pattern:"^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$" doc:"Explain the node together with this pool: why it is a member, or not"`
	Key  string `query:"key" maxLength:"320" doc:"Only the origin of this label, annotation or taint"`
}

type whyOutput struct{ Body why.Explanation }

// registerWhy registers the routes that explain objects. Each reads its subject from the API server as the caller, and what is
// around it as far as the caller may list it.
func (a *API) registerWhy() {
	kind := func(plural string) *feed.Kind {
		k, _ := a.Hub.Kind(plural) // the table of kinds has it
		return k
	}
	registerExplanation(a, a.pods, a.explainPod)
	registerExplanation(a, a.deployments, a.explainDeployment)
	registerExplanation(a, kind("replicasets"), ofPods(a, why.ReplicaSet))
	registerExplanation(a, kind("statefulsets"), ofPods(a, why.StatefulSet))
	registerExplanation(a, kind("daemonsets"), ofPods(a, why.DaemonSet))
	registerExplanation(a, kind("jobs"), ofPods(a, why.Job))
	registerExplanation(a, kind("podsets"), a.explainPodSet)
	registerExplanation(a, kind("nodepools"), simply(why.NodePool))
	registerExplanation(a, kind("podbuggertools"), simply(why.PodBuggerTool))
	registerExplanation(a, kind("virtualmachines"), simply(why.VirtualMachine))
	registerExplanation(a, kind("clusters"), simply(why.Cluster))
	registerExplanation(a, kind("kubeconfigs"), simply(why.Kubeconfig))
	a.registerPreview(kind("nodepools"))
	nodes := kind("nodes")
	handle(a, whyOperation(nodes), func(ctx context.Context, in *whyNodeInput) (*whyOutput, error) { return a.explainNode(ctx, nodes, in) })
}

func whyOperation(k *feed.Kind) huma.Operation {
	op := operation(k, "why", http.MethodGet, objectPath(k, "/why"), "Explain why one is as it is", map[int]*huma.Response{
		http.StatusOK: {Description: "The checks, and what to do", Headers: carries(headerAge, headerWarning)},
	})
	op.Description = "A list of checks. At most one has failed: it names the cause, proves it and says what to do. Whatever the caller may not list is not looked at."
	return op
}

// explainer explains an object that was read as the caller.
type explainer[T any] func(ctx context.Context, who *access.Caller, object *T) (*why.Explanation, error)

// simply returns the explainer of a kind that needs nothing but the object.
func simply[T any](explain func(*T) *why.Explanation) explainer[T] {
	return func(_ context.Context, _ *access.Caller, object *T) (*why.Explanation, error) {
		return explain(object), nil
	}
}

func registerExplanation[T any](a *API, k *feed.Kind, explain explainer[T]) {
	handle(a, whyOperation(k), func(ctx context.Context, in *whyInput) (*whyOutput, error) {
		who, err := access.CallerOf(ctx)
		if err != nil {
			return nil, err
		}
		object, err := readAs[T](ctx, a, who, k.Path(in.namespace, in.name, ""))
		if err != nil {
			return nil, err
		}
		out, err := explain(ctx, who, object)
		if err != nil {
			return nil, err
		}
		return a.explained(out), nil
	})
}

// explainNode explains a node, alone or together with a pool, and says who has set what it carries.
func (a *API) explainNode(ctx context.Context, nodes *feed.Kind, in *whyNodeInput) (*whyOutput, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	node, err := readAs[corev1.Node](ctx, a, who, nodes.Path("", in.name, "")) // with managedFields, which no store has
	if err != nil {
		return nil, err
	}
	out, err := inquiry.Node(ctx, &source{api: a, who: who}, node, in.Pool, in.Key)
	if err != nil {
		return nil, err
	}
	return a.explained(out), nil
}

// explained answers with an explanation, whose commands are about this installation.
func (a *API) explained(out *why.Explanation) *whyOutput {
	out.RunsIn(a.SystemNamespace)
	return &whyOutput{Body: *out}
}

// explainPod explains a pod with what is around it.
func (a *API) explainPod(ctx context.Context, who *access.Caller, pod *corev1.Pod) (*why.Explanation, error) {
	leave, err := a.survey(ctx, who)
	if err != nil {
		return nil, err
	}
	defer leave()
	return inquiry.Pod(ctx, &source{api: a, who: who}, pod)
}

func (a *API) explainDeployment(ctx context.Context, who *access.Caller, of *appsv1.Deployment) (*why.Explanation, error) {
	out := why.Deployment(of)
	selector, err := metav1.LabelSelectorAsSelector(of.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("cannot read the selector of Deployment %q: %w", of.Name, err)
	}
	return out, a.explainPodOf(ctx, who, out, of.Namespace, ofDeployment(of.Name, selector))
}

func (a *API) explainPodSet(ctx context.Context, who *access.Caller, of *appsv1alpha1.PodSet) (*why.Explanation, error) {
	out := why.PodSet(of)
	selector, err := labels.Parse(of.Status.Selector)
	if err != nil || selector.Empty() {
		return out, nil //nolint:nilerr // without a selector Windlass has not looked yet, which the explanation says
	}
	return out, a.explainPodOf(ctx, who, out, of.Namespace, ofDeployment(of.Name, selector)) // which has the name of its PodSet
}

// ofPods returns the explainer of a kind that owns its pods itself: it adds the explanation of one of them.
func ofPods[T any, O objectPointer[T]](a *API, explain func(*T) *why.Explanation) explainer[T] {
	return func(ctx context.Context, who *access.Caller, object *T) (*why.Explanation, error) {
		out, of := explain(object), O(object)
		return out, a.explainPodOf(ctx, who, out, of.GetNamespace(), func(item *view.Item) bool {
			return slices.Contains(item.Owners, of.GetUID())
		})
	}
}

// ofDeployment returns what tells the pods of a Deployment from those of others with its labels, as a Job that migrates its data has.
func ofDeployment(name string, selector labels.Selector) func(*view.Item) bool {
	return func(item *view.Item) bool {
		if !selector.Matches(item.Labels) {
			return false
		}
		pod, err := decoded[metav1.PartialObjectMetadata](item)
		return err == nil && inquiry.IsOfDeployment(pod, name)
	}
}

// explainPodOf adds the explanation of the first pod that is not ready, if pods are what the object waits for. A pod that has ended comes
// after those that have not.
func (a *API) explainPodOf(ctx context.Context, who *access.Caller, of *why.Explanation, namespace string, owns func(*view.Item) bool) error {
	if of.Failure() == nil {
		return nil
	}
	items, because, err := a.all(ctx, who, a.pods, namespace)
	if err != nil {
		return err
	}
	if because != "" {
		of.Unseen(why.CheckPodsStarted, because)
		return nil
	}
	var first *view.Item
	for _, item := range items {
		switch {
		case item.Health.State == healthy || item.Deleting || !owns(item):
		case item.Fields["status.phase"] != string(corev1.PodFailed):
			return a.addPod(ctx, who, of, item)
		case first == nil:
			first = item
		}
	}
	if first == nil {
		return nil
	}
	return a.addPod(ctx, who, of, first)
}

// addPod adds the explanation of a pod to that of its owner.
func (a *API) addPod(ctx context.Context, who *access.Caller, of *why.Explanation, item *view.Item) error {
	pod, err := decoded[corev1.Pod](item)
	if err != nil {
		return err
	}
	of.Because, err = a.explainPod(ctx, who, pod)
	return err
}
