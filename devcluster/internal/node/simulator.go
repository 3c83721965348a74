// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
)

const (
	// workers is the number above which the API server gets no faster.
	workers = 12
	// readyPatience fits the slowest case: thousands of nodes that come back after a stop, on a loaded machine.
	readyPatience = 5 * time.Minute
)

// Simulator keeps the simulated nodes of one cluster.
type Simulator struct {
	Client kubernetes.Interface
	// Version is the version that the simulated kubelets report.
	Version string
	// KubeletPort is where the kwok controller answers as their kubelet.
	KubeletPort int32
	// Real is the name of the real node, empty if the cluster has none.
	Real string
	// Report is called with an activity and its progress.
	Report func(verb string, done, total int)
}

// Change counts what Sync did.
type Change struct{ Added, Changed, Removed int }

// Sync reconciles the nodes of devcluster with the specs: it adds missing nodes and changes or removes others. It leaves
// nodes alone that devcluster did not create.
func (s *Simulator) Sync(ctx context.Context, specs []Spec) (Change, error) {
	list, err := s.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return Change{}, fmt.Errorf("cannot list nodes: %w", err)
	}
	existing := map[string]*corev1.Node{}
	for i := range list.Items {
		existing[list.Items[i].Name] = &list.Items[i]
	}
	delete(existing, s.Real)
	var missing, present []Spec
	for _, spec := range specs {
		node, ok := existing[spec.Name]
		if !ok {
			missing = append(missing, spec)
			continue
		}
		if _, own := node.Annotations[ledgerAnnotation]; !own {
			return Change{}, fmt.Errorf("cannot create node %q: a node of that name exists and was not created by devcluster, delete it first", spec.Name)
		}
		if !isSimulated(node) {
			// A real node that could not join has left it. Nothing makes it ready, so it stays among the surplus and is created again.
			missing = append(missing, spec)
			continue
		}
		present = append(present, spec)
		delete(existing, spec.Name)
	}
	var surplus []string
	for name, node := range existing {
		if _, own := node.Annotations[ledgerAnnotation]; own {
			surplus = append(surplus, name)
		}
	}
	slices.Sort(surplus)

	var changed atomic.Int64
	err = forEach(ctx, s, "removing", surplus, s.remove)
	if err == nil {
		err = forEach(ctx, s, "adding", missing, s.add)
	}
	if err == nil {
		err = forEach(ctx, s, "checking", present, func(ctx context.Context, spec Spec) error {
			wrote, err := change(ctx, s.Client, spec.Name, func(node *corev1.Node) error { return apply(node, spec) })
			if wrote {
				changed.Add(1)
			}
			return err
		})
	}
	return Change{Added: len(missing), Changed: int(changed.Load()), Removed: len(surplus)}, err
}

// forEach works on items in parallel and stops at the first error.
func forEach[T any](ctx context.Context, s *Simulator, verb string, items []T, do func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	var done atomic.Int64
	for _, item := range items {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := do(ctx, item)
			s.Report(verb, int(done.Add(1)), len(items))
			return err
		})
	}
	return group.Wait()
}

// add succeeds if the node exists by now: an earlier attempt can have succeeded with its answer lost.
func (s *Simulator) add(ctx context.Context, spec Spec) error {
	node, err := spec.object(s.Version, s.KubeletPort, metav1.Now())
	if err != nil {
		return err
	}
	_, err = s.Client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot create node %q: %w", spec.Name, err)
	}
	return nil
}

// remove leaves the pods to the pod garbage collector of the controller manager, as the loss of a real node would.
func (s *Simulator) remove(ctx context.Context, name string) error {
	err := s.Client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("cannot delete node %q: %w", name, err)
	}
	return nil
}

// change edits a node, repeats after conflicts, and reports whether it wrote anything.
func change(ctx context.Context, client kubernetes.Interface, name string, edit func(*corev1.Node) error) (wrote bool, err error) {
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		before := node.DeepCopy()
		if err := edit(node); err != nil {
			return err
		}
		if equality.Semantic.DeepEqual(before, node) {
			return nil
		}
		wrote = true
		_, err = client.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("cannot change node %q: %w", name, err)
	}
	return wrote, nil
}

// apply changes a node in memory: it removes what was applied before and is no longer in the spec, sets what is in the
// spec, and leaves everything else as it is.
func apply(node *corev1.Node, spec Spec) error {
	var before ledger
	// A real node has no record at first: devcluster must not remove what its kubelet has set.
	if raw, applied := node.Annotations[ledgerAnnotation]; applied {
		if err := json.Unmarshal([]byte(raw), &before); err != nil {
			return fmt.Errorf("annotation %s is damaged, delete the node: %w", ledgerAnnotation, err)
		}
	}
	labels := spec.labels()
	for _, key := range before.Labels {
		if _, wanted := labels[key]; !wanted {
			delete(node.Labels, key)
		}
	}
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	maps.Copy(node.Labels, labels)
	node.Spec.Taints = mergeTaints(node.Spec.Taints, before.Taints, spec.Taints)
	applied, err := spec.ledger()
	if err != nil {
		return err
	}
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	node.Annotations[ledgerAnnotation] = applied
	return nil
}

// mergeTaints keeps the order of existing taints, because a new order would cause a needless write.
func mergeTaints(current, before, wanted []corev1.Taint) []corev1.Taint {
	find := func(taints []corev1.Taint, taint corev1.Taint) int {
		return slices.IndexFunc(taints, func(other corev1.Taint) bool { return other.MatchTaint(&taint) })
	}
	var merged []corev1.Taint
	for _, taint := range current {
		if i := find(wanted, taint); i >= 0 {
			taint.Value = wanted[i].Value
		} else if find(before, taint) >= 0 {
			continue
		}
		merged = append(merged, taint)
	}
	for _, taint := range wanted {
		if find(merged, taint) < 0 {
			merged = append(merged, taint)
		}
	}
	return merged
}

// AwaitReady waits until every simulated node is ready and accepts pods, and returns how many there are.
func (s *Simulator) AwaitReady(ctx context.Context) (int, error) {
	patience, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	for {
		begin := time.Now()
		waiting, total, err := s.waiting(patience)
		if err == nil && len(waiting) == 0 {
			return total, nil
		}
		if err == nil {
			s.Report("waiting for ready", total-len(waiting), total)
		}
		// Listing thousands of nodes slows down what this waits for, so it may take at most a tenth of the time.
		select {
		case <-time.After(max(100*time.Millisecond, 10*time.Since(begin))):
			continue
		case <-patience.Done():
		}
		if cause := context.Cause(ctx); cause != nil {
			return 0, cause
		}
		if err != nil {
			return 0, err
		}
		return 0, fmt.Errorf("%d of %d nodes are not ready after %s, the first is %q: see the logs of kwok-controller and kube-controller-manager",
			len(waiting), total, readyPatience, waiting[0])
	}
}

// waiting returns the simulated nodes that are not ready yet, and how many simulated nodes there are.
func (s *Simulator) waiting(ctx context.Context) (names []string, total int, err error) {
	// The API server answers from its cache, once that is as new as etcd. "Any version" would do no less work, and can lack the nodes
	// that Sync has just created.
	list, err := s.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, 0, fmt.Errorf("cannot list nodes: %w", err)
	}
	for i := range list.Items {
		node := &list.Items[i]
		if !isSimulated(node) {
			continue
		}
		total++
		if !ready(node) {
			names = append(names, node.Name)
		}
	}
	return names, total, nil
}

// isSimulated reports whether the kwok controller manages the node.
func isSimulated(node *corev1.Node) bool {
	return node.Annotations[SimulatedAnnotation] == SimulatedValue
}

// ready also checks the taints: the controller manager removes them shortly after the condition changes, and until then
// no pod is scheduled.
func ready(node *corev1.Node) bool {
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable {
			return false
		}
	}
	return slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
		return condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue
	})
}

// sortedKeys gives a stable order to what is written and compared.
func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
