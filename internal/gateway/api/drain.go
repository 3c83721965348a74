// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/windlass-operator/windlass/internal/action"
	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// evictors is how many pods of a node are evicted at the same time.
const evictors = 8

type drainOutput struct{ Body action.Drain }

// registerDrain registers the route that drains a node.
func (a *API) registerDrain(nodes *feed.Kind) {
	of := actionOf{
		name: "drain", summary: "Cordon a node and evict its pods",
		about: "It evicts each pod once and does not wait until they have ended: send it again until remaining is 0. dryRun=All says " +
			"what would happen. The caller has to be able to list pods in all namespaces.",
	}
	op := actionOperation(nodes, of, &huma.Response{Description: "What became of each pod", Headers: carries()})
	handle(a, op, func(ctx context.Context, in *actionOption[action.DrainRequest]) (*drainOutput, error) {
		return a.drain(ctx, nodes, of, in)
	})
}

// drain cordons a node and evicts its pods, all as the caller.
func (a *API) drain(ctx context.Context, nodes *feed.Kind, of actionOf, in *actionOption[action.DrainRequest]) (*drainOutput, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	_, err = act(ctx, a, nodes, of, in.base(), func(_ context.Context, node *corev1.Node) error {
		node.Spec.Unschedulable = true
		return nil
	})
	if refusal, refused := errors.AsType[*action.Refusal](err); err != nil && (!refused || refusal.Code != action.CodeNothingToDo) {
		return nil, err // a node that is cordoned already is drained too
	}
	pods, err := a.podsOn(ctx, who, in.name)
	if err != nil {
		return nil, err
	}
	request := given(in.Body)
	out := &drainOutput{Body: action.PlanDrain(in.name, pods, &request)}
	a.evictAll(ctx, who, out.Body.Pods, &request, in.DryRun)
	budgets, err := readAs[policyv1.PodDisruptionBudgetList](ctx, a, who,
		view.ResourcePath(policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets"), "", "", ""))
	if err == nil { // without the right to list budgets, budgetsKnown says so
		out.Body.Spend(pods, budgets.Items)
	}
	out.Body.Count()
	return out, nil
}

// podsOn lists the pods of a node past the cache: all of them, or the refusal of the API server.
func (a *API) podsOn(ctx context.Context, who *access.Caller, node string) ([]corev1.Pod, error) {
	out, err := listAs[corev1.Pod](ctx, a, who, a.pods, "", Selection{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", node).String()})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(x, y corev1.Pod) int {
		return cmp.Or(strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name))
	})
	return out, nil
}

// evictAll evicts the pods that would be, and enters what became of each.
func (a *API) evictAll(ctx context.Context, who *access.Caller, pods []action.DrainedPod, request *action.DrainRequest, dry string) {
	var evicting sync.WaitGroup
	free := make(chan struct{}, evictors)
	for i := range pods {
		if pods[i].Result != action.WouldBeEvicted {
			continue
		}
		free <- struct{}{}
		evicting.Go(func() {
			defer func() { <-free }()
			a.evictFrom(ctx, who, &pods[i], request, dry)
		})
	}
	evicting.Wait()
}

// evictFrom evicts one pod, and none that has its name and is another one.
func (a *API) evictFrom(ctx context.Context, who *access.Caller, pod *action.DrainedPod, request *action.DrainRequest, dry string) {
	options := metav1.DeleteOptions{
		GracePeriodSeconds: request.GracePeriodSeconds, Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	}
	if dry != "" {
		options.DryRun = []string{dry}
	}
	body, err := json.Marshal(evictionOf(pod.Namespace, pod.Name, &options))
	if err == nil {
		_, err = a.send(ctx, who, a.pods, pod.Namespace, pod.Name, access.Call{
			Method: http.MethodPost, Path: a.pods.Path(pod.Namespace, pod.Name, "eviction"), Query: dryRunQuery(dry), Body: body,
			ContentType: mediaJSON,
		})
	}
	if err == nil {
		if dry == "" {
			pod.Result = action.DrainEvicted
		}
		return
	}
	problem := asProblem(err)
	pod.Detail = problem.Detail
	switch problem.Status {
	case http.StatusTooManyRequests:
		pod.Result = action.DrainBlocked
	case http.StatusForbidden:
		pod.Result = action.DrainForbidden
	case http.StatusNotFound, http.StatusConflict: // with another UID
		pod.Result = action.DrainGone
	default:
		pod.Result = action.DrainFailed
	}
}

// evictionOf returns the body of an eviction.
func evictionOf(namespace, name string, options *metav1.DeleteOptions) *policyv1.Eviction {
	return &policyv1.Eviction{
		TypeMeta:      metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"},
		ObjectMeta:    metav1.ObjectMeta{Namespace: namespace, Name: name},
		DeleteOptions: options,
	}
}
