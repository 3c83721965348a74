// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// installationName is the ConfigMap in the namespace of the managers that says which installation a restored cluster continues, under installationKey. A
// backup of such a cluster has it with the rest of that namespace. Otherwise, it knows only the UID of kube-system, which no machine on a host has.
const installationName, installationKey = "windlass-installation", "uid"

// installation returns which installation the cluster continues with this backup, or, if that is not known, what to say about it.
func (r *Restorer) installation(ctx context.Context, saved []*unstructured.Unstructured) (uid, unknown string, err error) {
	var noted corev1.ConfigMap
	err = r.Client.Get(ctx, r.note(), &noted)
	if client.IgnoreNotFound(err) != nil {
		return "", "", fmt.Errorf("cannot read which installation this cluster continues: %w", err)
	}
	here := noted.Data[installationKey]
	uid, unknown = installationOf(saved, r.Lease.Namespace)
	if here != "" && uid != "" && here != uid {
		return "", "", fmt.Errorf("cannot restore the installation %s: this cluster continues %s already, as its ConfigMap %q says", uid, here, r.note())
	}
	return cmp.Or(here, uid), unknown, nil
}

// installationOf returns which installation the cluster of the backup was, or what to say if the backup does not tell. Home is the namespace of the
// managers: nobody else can say it. A note in another namespace is not believed, and ends all guessing: home may be the wrong one.
func installationOf(saved []*unstructured.Unstructured, home string) (uid, unknown string) {
	unknown = "The backup does not have the Namespace kube-system. Start the manager with --installation and the UID that this had, " +
		"or it does not find its machines."
	elsewhere := map[string]string{}
	for _, object := range saved {
		switch {
		case object.GetKind() == "ConfigMap" && object.GetName() == installationName:
			noted, _, _ := unstructured.NestedString(object.Object, "data", installationKey)
			if noted != "" && object.GetNamespace() == home {
				return noted, ""
			}
			elsewhere[object.GetNamespace()] = noted
		case object.GetKind() == "Namespace" && object.GetName() == metav1.NamespaceSystem:
			uid = string(object.GetUID())
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(elsewhere)) {
		if noted := elsewhere[namespace]; noted != "" && noted != uid {
			return "", fmt.Sprintf("The backup has the ConfigMap \"%s/%s\". If the managers ran in that namespace, restore once more with --lease-lock-namespace=%s. "+
				"Otherwise start the manager with --installation and the UID that kube-system had. The wrong UID makes every machine a second time.",
				namespace, installationName, namespace)
		}
	}
	if slices.ContainsFunc(saved, wasRestored) {
		return "", "The cluster of the backup was restored itself, and the backup does not say which installation it continued. " +
			"Start the manager with the --installation that its manager had, or it makes every machine a second time."
	}
	return uid, unknown
}

// wasRestored reports whether the object is a VirtualMachine whose machine has the UID of an earlier cluster.
func wasRestored(object *unstructured.Unstructured) bool {
	noted, _, _ := unstructured.NestedString(object.Object, "status", "server", "uid")
	return noted != "" && object.GetKind() == "VirtualMachine"
}

// conclude says what was left out and how the manager must be started, and notes the installation for backups of this cluster.
func (r *Restorer) conclude(ctx context.Context, saved []*unstructured.Unstructured, uid, unknown string) error {
	for _, line := range leftOut(saved) {
		if err := r.say("%s", line); err != nil {
			return err
		}
	}
	if uid == "" {
		return r.say("%s", unknown)
	}
	if err := r.say("Start the manager with --installation=%s, so that it finds its machines.", uid); err != nil {
		return err
	}
	if err := r.hold(ctx); err != nil {
		return err
	}
	err := r.Client.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.Lease.Namespace, Name: installationName}, Data: map[string]string{installationKey: uid},
	})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot note which installation this cluster continues, in the ConfigMap %q: %w", r.note(), err)
	}
	return nil
}

// note names the ConfigMap of this cluster.
func (r *Restorer) note() client.ObjectKey {
	return client.ObjectKey{Namespace: r.Lease.Namespace, Name: installationName}
}

// leftOut names the kinds of the backup that are not restored, and pools that are not there: other programs have NodePools, too, and kubectl may have
// saved those.
func leftOut(saved []*unstructured.Unstructured) []string {
	known := append(order(), schema.GroupKind{Kind: "Node"})
	var out []string
	pools := false
	for _, object := range saved {
		kind := object.GroupVersionKind().GroupKind()
		pools = pools || kind == nodesv1.SchemeGroupVersion.WithKind("NodePool").GroupKind()
		line := fmt.Sprintf("Objects of the kind %s are left out: they do not belong to Windlass.", kind)
		if !slices.Contains(known, kind) && !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	if !pools {
		out = append(out, "The backup has no nodepools.nodes.lailin.xyz. If the cluster had some, save them under this name.")
	}
	return out
}
