// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
)

// placeOf returns where the configuration of a Cluster is, if it is in that file; an empty path is the working directory.
func placeOf(cluster *clusterprovisionerv1alpha1.Cluster, path string) provision.Place {
	return provision.Place{Cluster: string(cluster.UID), Name: cluster.Name, ConfigPath: path}
}

// claimant returns the name of the Cluster that the file of this one belongs to; empty if that is this one. The file belongs to the
// Cluster that the tool has worked on, and of several to the oldest.
func claimant(
	cluster *clusterprovisionerv1alpha1.Cluster, all []clusterprovisionerv1alpha1.Cluster, resolve func(string) (string, error),
) string {
	path, err := resolve(cluster.Spec.ConfigPath)
	if err != nil {
		return "" // reading the file fails for the same reason
	}
	first := cluster
	for i := range all {
		other := &all[i]
		if other.UID == cluster.UID || other.Spec.ConfigPath == "" {
			continue
		}
		if at, err := resolve(other.Spec.ConfigPath); err == nil && at == path && precedes(other, first) {
			first = other
		}
	}
	if first == cluster {
		return ""
	}
	return first.Name
}

// precedes reports whether a file belongs to Cluster a rather than to b.
func precedes(a, b *clusterprovisionerv1alpha1.Cluster) bool {
	switch {
	case workedOn(a) != workedOn(b):
		return workedOn(a)
	case !a.CreationTimestamp.Equal(&b.CreationTimestamp):
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.Name < b.Name
}

// workedOn reports whether the tool has been started for the Cluster.
func workedOn(cluster *clusterprovisionerv1alpha1.Cluster) bool {
	return cluster.Status.LastOperation != nil || cluster.Status.AppliedConfigHash != ""
}
