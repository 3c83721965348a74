// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/commandline"
)

// nodesPlural is the kind of which there are thousands.
const nodesPlural = "nodes"

// kind is a kind that commands know without asking the API server what it serves, which would take several requests.
type kind struct {
	gvk        schema.GroupVersionKind
	plural     string
	short      []string
	namespaced bool
	// ours is true for the kinds of Windlass.
	ours bool
	// rank is the place in the table.
	rank   int
	object func() client.Object
	list   func() client.ObjectList
}

// kinds returns the table of kinds: those of Windlass first. The names are those that the API has, so that kubectl knows the same
// ones; np is ours.
func kinds() []*kind {
	out := []*kind{
		of[nodesv1.NodePool, nodesv1.NodePoolList](nodesv1.SchemeGroupVersion.WithKind("NodePool"), "nodepools", "wnp", "np").windlass(),
		of[appsv1alpha1.PodSet, appsv1alpha1.PodSetList](appsv1alpha1.SchemeGroupVersion.WithKind("PodSet"), "podsets").inNamespaces().windlass(),
		of[cloudnativev1alpha1.VirtualMachine, cloudnativev1alpha1.VirtualMachineList](
			cloudnativev1alpha1.SchemeGroupVersion.WithKind("VirtualMachine"), "virtualmachines", "vm", "vms").inNamespaces().windlass(),
		of[clusterprovisionerv1alpha1.Cluster, clusterprovisionerv1alpha1.ClusterList](
			clusterprovisionerv1alpha1.SchemeGroupVersion.WithKind("Cluster"), "clusters").windlass(),
		of[clusterprovisionerv1alpha1.Kubeconfig, clusterprovisionerv1alpha1.KubeconfigList](
			clusterprovisionerv1alpha1.SchemeGroupVersion.WithKind("Kubeconfig"), "kubeconfigs").windlass(),
		of[appsv1alpha1.PodBuggerTool, appsv1alpha1.PodBuggerToolList](
			appsv1alpha1.SchemeGroupVersion.WithKind("PodBuggerTool"), "podbuggertools", "pbt").inNamespaces().windlass(),
		of[corev1.Node, corev1.NodeList](corev1.SchemeGroupVersion.WithKind("Node"), nodesPlural, "no"),
		of[corev1.Pod, corev1.PodList](corev1.SchemeGroupVersion.WithKind("Pod"), "pods", "po").inNamespaces(),
		of[appsv1.Deployment, appsv1.DeploymentList](appsv1.SchemeGroupVersion.WithKind("Deployment"), "deployments", "deploy").inNamespaces(),
		of[appsv1.ReplicaSet, appsv1.ReplicaSetList](appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), "replicasets", "rs").inNamespaces(),
		of[appsv1.StatefulSet, appsv1.StatefulSetList](appsv1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets", "sts").inNamespaces(),
		of[appsv1.DaemonSet, appsv1.DaemonSetList](appsv1.SchemeGroupVersion.WithKind("DaemonSet"), "daemonsets", "ds").inNamespaces(),
		of[batchv1.Job, batchv1.JobList](batchv1.SchemeGroupVersion.WithKind("Job"), "jobs").inNamespaces(),
		of[batchv1.CronJob, batchv1.CronJobList](batchv1.SchemeGroupVersion.WithKind("CronJob"), "cronjobs", "cj").inNamespaces(),
	}
	for i, k := range out {
		k.rank = i
	}
	return out
}

// of returns the row of a kind whose objects belong to the cluster.
func of[T, L any, P interface {
	*T
	client.Object
}, PL interface {
	*L
	client.ObjectList
}](gvk schema.GroupVersionKind, plural string, short ...string) *kind {
	return &kind{
		gvk: gvk, plural: plural, short: short,
		object: func() client.Object { return P(new(T)) },
		list:   func() client.ObjectList { return PL(new(L)) },
	}
}

func (k *kind) inNamespaces() *kind { k.namespaced = true; return k }

func (k *kind) windlass() *kind { k.ours = true; return k }

func (k *kind) singular() string { return strings.ToLower(k.gvk.Kind) }

// called reports whether the kind has the name, in any case.
func (k *kind) called(name string) bool {
	name = strings.ToLower(name)
	return name == k.plural || name == k.singular() || slices.Contains(k.short, name)
}

// qualified is the name that no other API group has.
func (k *kind) qualified() string {
	if k.gvk.Group == "" {
		return k.plural
	}
	return k.plural + "." + k.gvk.Group
}

// fits reports whether a qualifier, which is a group or a version and a group, is that of the kind.
func (k *kind) fits(qualifier string) bool {
	return qualifier == "" || qualifier == k.gvk.Group || qualifier == k.gvk.Version+"."+k.gvk.Group
}

// kindOf returns the kind that an argument means, as kubectl takes it: any of its names, and the API group after a dot. It must be one of
// these.
func kindOf(argument string, among []*kind) (*kind, error) {
	name, qualifier, _ := strings.Cut(argument, ".")
	at := slices.IndexFunc(among, func(k *kind) bool { return k.called(name) && k.fits(qualifier) })
	if at >= 0 {
		return among[at], nil
	}
	if at = slices.IndexFunc(among, func(k *kind) bool { return k.called(name) }); at >= 0 {
		return nil, misused("%s are of another API group: did you mean %s?", argument, among[at].qualified())
	}
	if all := kinds(); slices.ContainsFunc(all, func(k *kind) bool { return k.called(name) && k.fits(qualifier) }) {
		return nil, misused("this command does not work on %s: it works on %s", argument, plurals(among))
	}
	var words []string
	for _, k := range among {
		words = append(append(words, k.plural, k.singular()), k.short...)
	}
	if near := commandline.Near(strings.ToLower(name), words); len(near) > 0 {
		return nil, misused("unknown kind %q: did you mean %s?", argument, near[0])
	}
	return nil, misused("unknown kind %q: there are %s", argument, plurals(among))
}

func plurals(of []*kind) string {
	names := make([]string, 0, len(of))
	for _, k := range of {
		names = append(names, k.plural)
	}
	return strings.Join(names, ", ")
}

// only returns the kinds with these plurals, in this order. It panics for one that the table does not have.
func only(plurals ...string) []*kind {
	all := kinds()
	out := make([]*kind, 0, len(plurals))
	for _, plural := range plurals {
		out = append(out, all[slices.IndexFunc(all, func(k *kind) bool { return k.plural == plural })])
	}
	return out
}

// target is what an argument names.
type target struct {
	*kind

	name string
}

// targetOf reads "kind/name", or "kind name" from two arguments. Without a name it means all of the kind.
func targetOf(args []string, among []*kind) (target, error) {
	word, name, slash := strings.Cut(args[0], "/")
	switch {
	case slash && (word == "" || name == "" || len(args) > 1):
		return target{}, misused("give one object as kind/name, such as %s/a", among[0].singular())
	case len(args) == 2:
		name = args[1]
	case len(args) > 2:
		return target{}, misused("give one object, as kind/name")
	}
	if strings.Contains(name, "/") {
		return target{}, misused("%q is no name of an object: give the namespace with -n", name)
	}
	found, err := kindOf(word, among)
	return target{kind: found, name: name}, err
}

// objectOf is targetOf for commands that need a name.
func objectOf(args []string, among []*kind) (target, error) {
	out, err := targetOf(args, among)
	if err == nil && out.name == "" {
		return target{}, misused("which one of the %s? Give its name: %s/NAME", out.plural, out.singular())
	}
	return out, err
}

// metadataList is a list of a kind for a reader of names only.
func metadataList(k *kind) *metav1.PartialObjectMetadataList {
	out := &metav1.PartialObjectMetadataList{}
	out.SetGroupVersionKind(k.gvk.GroupVersion().WithKind(k.gvk.Kind + "List"))
	return out
}
