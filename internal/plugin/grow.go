// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
)

// grow returns an object with what it owns and uses, as far as the caller may see it.
func (c *cluster) grow(ctx context.Context, k *kind, object client.Object) (*branch, error) {
	root := branchOf(standingOf(k, object))
	var err error
	switch of := object.(type) {
	case *nodesv1.NodePool:
		root.Children, err = c.ofPool(ctx, of)
	case *appsv1alpha1.PodSet:
		root.Children, err = c.ofPodSet(ctx, of)
	case *appsv1alpha1.PodBuggerTool:
		root.Children = ofTool(of)
	case *cloudnativev1alpha1.VirtualMachine:
		if at := kube.PlacementOf(of); at.Host != "" {
			root.Children = append(root.Children, sentence(moodNone, "host %s", at))
		}
	case *clusterprovisionerv1alpha1.Cluster:
		root.Children, err = c.kubeconfigsOf(ctx, of)
	case *clusterprovisionerv1alpha1.Kubeconfig:
		if of.Spec.ClusterRef != nil {
			root.Children, err = c.one(ctx, only("clusters")[0], of.Spec.ClusterRef.Name)
		}
	case *corev1.Node:
		root.Children, err = c.poolsOf(ctx, of)
	case *corev1.Pod:
		root.Children, err = c.usedBy(ctx, of)
	case *batchv1.CronJob:
		root.Children, err = c.ofCronJob(ctx, of)
	default:
		root.Children, err = c.ownPods(ctx, object)
	}
	return root, err
}

// ofPool returns the RuntimeClass, the nodes and the PodSets of a pool.
func (c *cluster) ofPool(ctx context.Context, pool *nodesv1.NodePool) ([]*branch, error) {
	out, err := c.classOf(ctx, pool)
	if err != nil {
		return nil, err
	}
	members, err := c.membersOf(ctx, pool)
	if err != nil {
		return nil, err
	}
	sets, err := c.choose(ctx, only("podsets")[0], c.everywhere(), func(object client.Object) bool {
		set, ok := object.(*appsv1alpha1.PodSet)
		return ok && set.Spec.NodePool == pool.Name
	})
	return slices.Concat(out, members, sets), err
}

func (c *cluster) classOf(ctx context.Context, pool *nodesv1.NodePool) ([]*branch, error) {
	err := c.Get(ctx, client.ObjectKey{Name: pool.Name}, &nodev1.RuntimeClass{})
	if apierrors.IsForbidden(err) {
		return hidden("runtimeclasses"), nil
	}
	return []*branch{thereOrNot("runtimeclass", pool.Name, err == nil)}, client.IgnoreNotFound(err)
}

// membersOf returns the nodes of a pool. Those that are ready are counted.
func (c *cluster) membersOf(ctx context.Context, pool *nodesv1.NodePool) ([]*branch, error) {
	of, err := membership.NewPool(pool)
	if err != nil {
		return []*branch{sentence(moodBad, "nodes  %s", err)}, nil
	}
	members, err := c.choose(ctx, only(nodesPlural)[0], "", func(object client.Object) bool {
		node, ok := object.(*corev1.Node)
		return ok && of.Has(node)
	})
	return gathered(members, "nodes"), err
}

// everywhere is the namespace of lists over all namespaces, or that of -n.
func (c *cluster) everywhere() string {
	if c.chosen {
		return c.namespace
	}
	return ""
}

// ofPodSet returns the pool and the pods of a PodSet.
func (c *cluster) ofPodSet(ctx context.Context, set *appsv1alpha1.PodSet) ([]*branch, error) {
	var out []*branch
	if set.Spec.NodePool != "" {
		var err error
		if out, err = c.one(ctx, only("nodepools")[0], set.Spec.NodePool); err != nil {
			return nil, err
		}
	}
	pods, err := c.ownPods(ctx, set)
	return append(out, pods...), err
}

func ofTool(tool *appsv1alpha1.PodBuggerTool) []*branch {
	out := make([]*branch, 0, len(tool.Status.Pods))
	for i := range tool.Status.Pods {
		pod, how := &tool.Status.Pods[i], moodGood
		if pod.Message != "" {
			how = moodBad
		}
		out = append(out, sentence(how, "pod/%s  %s %s", pod.Name, pod.State, oneLine(pod.Message)))
	}
	return out
}

func (c *cluster) kubeconfigsOf(ctx context.Context, of *clusterprovisionerv1alpha1.Cluster) ([]*branch, error) {
	return c.choose(ctx, only("kubeconfigs")[0], "", func(object client.Object) bool {
		config, ok := object.(*clusterprovisionerv1alpha1.Kubeconfig)
		return ok && config.Spec.ClusterRef != nil && config.Spec.ClusterRef.Name == of.Name
	})
}

func (c *cluster) poolsOf(ctx context.Context, node *corev1.Node) ([]*branch, error) {
	return c.choose(ctx, only("nodepools")[0], "", func(object client.Object) bool {
		pool, ok := object.(*nodesv1.NodePool)
		if !ok {
			return false
		}
		of, err := membership.NewPool(pool)
		return err == nil && of.Concerns(node)
	})
}
