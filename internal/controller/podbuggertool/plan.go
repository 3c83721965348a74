// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// The parts of a container's name: what the tool is called, cut so that the hash fits into the 63 characters of a DNS label.
const (
	hashLength = 8
	maxPrefix  = 63 - hashLength - 1
)

// entry is what one tool brings to a pod.
type entry struct {
	tool      *appsv1alpha1.PodBuggerTool
	container corev1.EphemeralContainer
}

// install is one write: the containers that a pod lacks. The first is the tool's own, the others are those of further tools that
// are about to be installed in the same pod.
type install struct {
	pod     *corev1.Pod
	entries []entry
}

// containers returns what the write adds to the pod.
func (i install) containers() []corev1.EphemeralContainer {
	list := make([]corev1.EphemeralContainer, 0, len(i.entries))
	for _, e := range i.entries {
		list = append(list, e.container)
	}
	return list
}

// decision is what a pass has to do, and what the status shows.
type decision struct {
	// container is the name of the tool's container.
	container string
	// matched are the live pods that match, the oldest first. Beyond is how many more there are, which are all left out.
	matched []*corev1.Pod
	beyond  int
	// installs are the writes, in order.
	installs []install
	// awaited are the names of pods that do not run yet and for which there is still a place under maxPods.
	awaited map[string]bool
	// leftOut are the names of pods for which there is none.
	leftOut map[string]bool
	// refused is what the API server answered about pods for which there is a place, but which do not take it, by their name.
	refused map[string]error
}

// plan chooses the pods that get the tool. Those that have it keep their place under maxPods; the rest goes to the oldest pods
// that run and have not refused it, and after them to those that will. It fails if the selector is invalid.
func plan(tool *appsv1alpha1.PodBuggerTool, seen observation) (decision, error) {
	asked, err := queryOf(tool)
	if err != nil {
		return decision{}, err
	}
	asked.passedOver = seen.passedOver
	own := containerOf(tool)
	decided := decision{
		container: own.Name, beyond: seen.beyond, awaited: map[string]bool{}, leftOut: map[string]bool{}, refused: map[string]error{},
	}
	var chosen []*corev1.Pod
	decided.matched, chosen = choose(asked, seen.pods)
	places := asked.maxPods - len(chosen)
	lacking := without(chosen, own.Name)
	companions := companionsOf(lacking, seen.others)
	for _, pod := range lacking {
		entries := append([]entry{{tool: tool, container: own}}, companions[pod.UID]...)
		decided.installs = append(decided.installs, install{pod: pod, entries: entries})
	}
	isChosen, spare := uids(chosen), places > 0
	for _, pod := range decided.matched {
		switch {
		case isChosen[pod.UID]:
		case seen.passedOver[pod.UID] != nil && spare:
			decided.refused[pod.Name] = seen.passedOver[pod.UID]
		case pod.Status.Phase != corev1.PodRunning && places > 0:
			decided.awaited[pod.Name] = true
			places--
		default:
			decided.leftOut[pod.Name] = true
		}
	}
	return decided, nil
}

// companionsOf returns what other tools are about to install in each of the pods, so that one write brings it all.
func companionsOf(pods []*corev1.Pod, others []other) map[types.UID][]entry {
	companions := make(map[types.UID][]entry)
	for _, other := range others {
		asked, err := queryOf(other.tool)
		if err != nil || !other.tool.DeletionTimestamp.IsZero() || status.IsPaused(other.tool) {
			continue
		}
		asked.passedOver = other.passedOver
		isChosen, container := uids(lacking(asked, other.pods)), containerOf(other.tool)
		for _, pod := range pods {
			if isChosen[pod.UID] {
				companions[pod.UID] = append(companions[pod.UID], entry{tool: other.tool, container: container})
			}
		}
	}
	for _, entries := range companions {
		slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.container.Name, b.container.Name) })
	}
	return companions
}

// lacking returns the pods that get the tool now.
func lacking(asked query, pods []*corev1.Pod) []*corev1.Pod {
	_, chosen := choose(asked, pods)
	return without(chosen, asked.container)
}

// choose returns the pods that match, and of these the ones that have the container or get it now. The pods are sorted, and both
// answers keep their order.
func choose(asked query, pods []*corev1.Pod) (matched, chosen []*corev1.Pod) {
	places := asked.maxPods
	for _, pod := range pods {
		if !asked.selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		matched = append(matched, pod)
		if carries(pod, asked.container) {
			places--
		}
	}
	for _, pod := range matched {
		if carries(pod, asked.container) {
			chosen = append(chosen, pod)
		} else if pod.Status.Phase == corev1.PodRunning && places > 0 && asked.passedOver[pod.UID] == nil {
			chosen = append(chosen, pod)
			places--
		}
	}
	return matched, chosen
}

// without returns the pods that do not have the container.
func without(pods []*corev1.Pod, container string) []*corev1.Pod {
	var list []*corev1.Pod
	for _, pod := range pods {
		if !carries(pod, container) {
			list = append(list, pod)
		}
	}
	return list
}

func uids(pods []*corev1.Pod) map[types.UID]bool {
	set := make(map[types.UID]bool, len(pods))
	for _, pod := range pods {
		set[pod.UID] = true
	}
	return set
}

// queryOf returns which pods the tool needs. It fails if the selector is invalid.
func queryOf(tool *appsv1alpha1.PodBuggerTool) (query, error) {
	selector, err := selectorOf(tool)
	return query{selector: selector, container: containerOf(tool).Name, maxPods: int(tool.Spec.MaxPods)}, err
}

// carries reports whether the pod has an ephemeral container of that name.
func carries(pod *corev1.Pod, container string) bool {
	return slices.ContainsFunc(pod.Spec.EphemeralContainers, func(c corev1.EphemeralContainer) bool { return c.Name == container })
}

// selectorOf returns what selects the tool's pods. The schema lets exactly one of the two forms through.
func selectorOf(tool *appsv1alpha1.PodBuggerTool) (labels.Selector, error) {
	if key, value, ok := strings.Cut(tool.Spec.Label, "="); ok {
		return labels.SelectorFromSet(labels.Set{key: value}), nil
	}
	if tool.Spec.Selector == nil {
		return labels.Nothing(), nil
	}
	selector, err := metav1.LabelSelectorAsSelector(tool.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("cannot read selector of %q: %w", tool.Name, err)
	}
	return selector, nil
}

// containerOf returns the container that the tool's pods get.
func containerOf(tool *appsv1alpha1.PodBuggerTool) corev1.EphemeralContainer {
	container := corev1.EphemeralContainer{
		EphemeralContainerCommon: corev1.EphemeralContainerCommon{
			Image:           tool.Spec.Image,
			Command:         tool.Spec.Command,
			ImagePullPolicy: corev1.PullIfNotPresent,
			SecurityContext: tool.Spec.SecurityContext,
			Stdin:           true,
			TTY:             true,
		},
		TargetContainerName: tool.Spec.TargetContainer,
	}
	container.Name = nameOf(tool.Name, container)
	// The name does not depend on these: a tool that is created anew does not install its container a second time.
	container.Env = []corev1.EnvVar{
		{Name: appsv1alpha1.EnvTool, Value: tool.Name}, {Name: appsv1alpha1.EnvToolUID, Value: string(tool.UID)},
	}
	return container
}

// nameOf returns the name of the tool's container: that of the tool, which makes it readable, and a hash of the tool's whole name
// and of the container, which makes it unique. An ephemeral container cannot be changed, so another container has to have
// another name. It is a DNS label whatever the image is called.
func nameOf(tool string, container corev1.EphemeralContainer) string {
	raw, err := json.Marshal(container)
	if err != nil {
		panic(fmt.Sprintf("cannot encode a container: %v", err)) // strings, numbers and booleans only
	}
	sum := sha256.Sum256(append([]byte(tool+"\n"), raw...))
	prefix := strings.ReplaceAll(tool, ".", "-")
	prefix = strings.TrimRight(prefix[:min(len(prefix), maxPrefix)], "-")
	return prefix + "-" + hex.EncodeToString(sum[:])[:hashLength]
}
