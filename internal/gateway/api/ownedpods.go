// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/inquiry"
)

// podPause is how often the pods of an object are looked for at most, while pods change.
const podPause = time.Second

// podSetsPlural is a kind whose pods are those of its Deployment.
const podSetsPlural = "podsets"

// owners are the kinds whose pods have logs to be read as one.
func owners() []string {
	return []string{view.DeploymentsPlural, podSetsPlural, "replicasets", "statefulsets", "daemonsets", "jobs"}
}

// podList finds the pods of an object, as its caller.
type podList struct {
	a         *API
	who       *access.Caller
	namespace string
	selector  labels.Selector
	// owns reports whether a pod that is selected is one of the object.
	owns func(pod *corev1.Pod) bool
}

// podLogs are the logs of a pod.
type podLogs struct {
	uid, name  string
	created    time.Time
	containers []containerLog
}

// containerLog is the log of a container: id changes when it restarts, and is empty before it starts. restarted is true if there is a log from before.
type containerLog struct {
	name, id  string
	restarted bool
}

// has reports whether there is a log, or one from before the last restart.
func (c *containerLog) has(previous bool) bool {
	return previous && c.restarted || !previous && c.id != ""
}

// anyHas reports whether a pod has the container.
func anyHas(pods []podLogs, container string) bool {
	return slices.ContainsFunc(pods, func(pod podLogs) bool {
		return slices.ContainsFunc(pod.containers, func(c containerLog) bool { return c.name == container })
	})
}

// podsOf returns what finds the pods of the object.
func (a *API) podsOf(ctx context.Context, who *access.Caller, k *feed.Kind, of Target) (*podList, error) {
	if k.Plural == podSetsPlural {
		if _, _, err := a.read(ctx, k, &getInput{Target: of}); err != nil {
			return nil, err
		}
		k = a.deployments // which has the name of its PodSet
	}
	body, _, err := a.read(ctx, k, &getInput{Target: of})
	if err != nil {
		return nil, err
	}
	owner := struct {
		metav1.ObjectMeta `json:"metadata"`

		Spec struct {
			Selector *metav1.LabelSelector `json:"selector"`
		} `json:"spec"`
	}{}
	if err := json.Unmarshal(body, &owner); err != nil {
		return nil, fmt.Errorf("cannot read %s %s/%s: %w", k.Plural, of.namespace, of.name, err)
	}
	selector, err := metav1.LabelSelectorAsSelector(owner.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("cannot read the selector of %s %s/%s: %w", k.Plural, of.namespace, of.name, err)
	}
	return &podList{a: a, who: who, namespace: of.namespace, selector: selector, owns: func(pod *corev1.Pod) bool {
		if k == a.deployments {
			return inquiry.IsOfDeployment(pod, owner.Name)
		}
		return metav1.IsControlledBy(pod, &owner.ObjectMeta)
	}}, nil
}

// needs are the rights to the logs of the pods of an object: to what podsOf has read, to the list of its pods, and to their logs.
func (p *podList) needs(k *feed.Kind, of Target) []need {
	within, get := Target{namespace: of.namespace}, view.Action{Verb: verbGet}
	out := []need{{k, get, of}, {p.a.pods, view.Action{Verb: "list"}, within}, {p.a.pods, view.ReadLog(), within}}
	if k.Plural == podSetsPlural {
		out = append(out, need{p.a.deployments, get, of})
	}
	return out
}

// list returns the logs of the pods, the newest pods first: from the store if the caller may list pods, and otherwise from the API server,
// so that every refusal is its own.
func (p *podList) list(ctx context.Context) ([]podLogs, error) {
	who, err := p.a.present(ctx, p.who)
	if err != nil {
		return nil, err
	}
	find := p.fromServer
	if _, _, ok := p.a.pods.Store.List(); ok && p.mayUseStore(ctx, who) {
		find = p.fromStore
	}
	pods, err := find(ctx, who)
	if err != nil {
		return nil, err
	}
	var out []podLogs
	for i := range pods {
		if p.owns(&pods[i]) {
			out = append(out, logsOf(&pods[i]))
		}
	}
	slices.SortFunc(out, func(a, b podLogs) int { return cmp.Or(b.created.Compare(a.created), cmp.Compare(a.name, b.name)) })
	return out, nil
}

// fromStore returns the selected pods of the store.
func (p *podList) fromStore(context.Context, *access.Caller) ([]corev1.Pod, error) {
	items, _, _ := p.a.pods.Store.List() // which is in step
	var out []corev1.Pod
	for _, item := range items {
		if item.Namespace != p.namespace || !p.selector.Matches(item.Labels) {
			continue
		}
		var pod corev1.Pod
		if err := json.Unmarshal(item.JSON, &pod); err != nil {
			return nil, fmt.Errorf("cannot read pod %s/%s: %w", item.Namespace, item.Name, err)
		}
		out = append(out, pod)
	}
	return out, nil
}

// fromServer returns the selected pods from the API server, as the caller. A log that is followed asks again and again.
func (p *podList) fromServer(ctx context.Context, who *access.Caller) ([]corev1.Pod, error) {
	held, release := p.a.holding(ctx, who)
	defer release()
	return listAs[corev1.Pod](held, p.a, who, p.a.pods, p.namespace, Selection{LabelSelector: p.selector.String()})
}

func (p *podList) mayUseStore(ctx context.Context, who *access.Caller) bool {
	allowed, _ := p.a.Rights.May(ctx, who, &p.a.pods.Kind, p.namespace, "", "list") // in doubt the API server decides
	return allowed && !p.a.pods.Store.Owes()
}

// await waits until the pods have changed since the channel was there; false if the context ends first. Without a store nobody says when.
func (p *podList) await(ctx context.Context, changes <-chan struct{}) bool {
	pause := podPause
	if changes == nil {
		pause = p.a.Recheck
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	}
	if changes == nil {
		return true
	}
	select {
	case <-ctx.Done():
		return false
	case <-changes:
		return true
	}
}

// present returns the caller with the credential that they have now, for what is asked long after they came: the token of a session is renewed
// meanwhile. While nobody knows, it is the one that they had, and the API server decides.
func (a *API) present(ctx context.Context, who *access.Caller) (*access.Caller, error) {
	now, valid, err := a.Identity.Refresh(ctx, who)
	switch {
	case err != nil:
		return who, nil //nolint:nilerr // because the API server says whether it accepts the token
	case !valid:
		return nil, view.NewProblem(http.StatusUnauthorized, view.CodeOf(http.StatusUnauthorized), "The API server no longer accepts the token.")
	default:
		return now, nil
	}
}

// logsOf returns the logs of a pod.
func logsOf(pod *corev1.Pod) podLogs {
	out := podLogs{uid: string(pod.UID), name: pod.Name, created: pod.CreationTimestamp.Time}
	for _, statuses := range [][]corev1.ContainerStatus{
		pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses,
	} {
		for i := range statuses {
			c := &statuses[i]
			out.containers = append(out.containers, containerLog{name: c.Name, id: c.ContainerID, restarted: c.RestartCount > 0})
		}
	}
	return out
}
