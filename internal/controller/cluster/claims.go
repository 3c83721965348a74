// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/provision/confine"
)

// placeOf returns where the configuration of a Cluster is, if it is in that file; an empty path is the working directory.
func placeOf(cluster *clusterprovisionerv1alpha1.Cluster, path string) provision.Place {
	return provision.Place{Cluster: string(cluster.UID), Name: cluster.Name, ConfigPath: path}
}

// observeFile is the phase that looks, for a run that is about to start, whether the file that it needs is another Cluster's. It reads past the cache,
// in which a Cluster that was created together with this one may be missing.
func (r *Reconciler) observeFile(ctx context.Context, pass *scope) flow.Outcome {
	next := pass.decision.start
	if next == nil || next.document.path == "" {
		return flow.Done()
	}
	path, err := r.configRoot.Resolve(next.document.path)
	if err != nil {
		return flow.Done() // the run is refused for the same reason
	}
	var clusters clusterprovisionerv1alpha1.ClusterList
	if err := r.direct.List(ctx, &clusters); err != nil {
		return flow.Fail(fmt.Errorf("cannot list Clusters: %w", err))
	}
	if next.action == provision.Remove {
		pass.taken = namedMeanwhile(pass.Object, path, clusters.Items, r.configRoot)
		return flow.Done()
	}
	pass.taken, err = r.appliedBefore(ctx, pass, path, clusters.Items)
	if pass.taken != nil {
		pass.seen.problem = pass.taken
	}
	return flow.Fail(err)
}

// namedMeanwhile says why there is no removing a cluster with that file, which its spec does not name any more: another Cluster's does. The tool would be
// given that one's file, and its state. It is nil if there is no other.
func namedMeanwhile(
	cluster *clusterprovisionerv1alpha1.Cluster, path string, all []clusterprovisionerv1alpha1.Cluster, root confine.Root,
) *refusal {
	if names(cluster, path, root) {
		return nil
	}
	for i := range all {
		if other := &all[i]; other.UID != cluster.UID && other.DeletionTimestamp.IsZero() && names(other, path, root) {
			return &refusal{clusterprovisionerv1alpha1.ReasonConfigPathInUse, fmt.Sprintf(
				"file %q, from which this Cluster was applied, is that of Cluster %q by now: give that Cluster a file of its own", path, other.Name)}
		}
	}
	return nil
}

// appliedBefore says why a configuration must not be applied from that file: it belongs to another Cluster, or still holds what another Cluster has to
// be removed with, wherever the spec of that one leads by now. It is nil if the file is this Cluster's.
func (r *Reconciler) appliedBefore(
	ctx context.Context, pass *scope, path string, all []clusterprovisionerv1alpha1.Cluster,
) (*refusal, error) {
	cluster, kept := pass.Object, pass.seen.stored
	name, err := r.claimant(ctx, cluster, kept, all)
	if err != nil {
		return nil, err
	}
	if name != "" {
		return inUse(cluster.Spec.ConfigPath, name), nil
	}
	if workedOn(cluster, kept, path, r.configRoot) == proven {
		return nil, nil //nolint:nilnil // neither refused nor failed
	}
	for i := range all {
		other := &all[i]
		if other.UID == cluster.UID || !begun(other) {
			continue
		}
		theirs, err := r.storeOf(ctx, other)
		if err != nil {
			return nil, err
		}
		if slices.Contains(theirs.files(r.configRoot), path) {
			return &refusal{clusterprovisionerv1alpha1.ReasonConfigPathInUse, fmt.Sprintf(
				"file %q belongs to Cluster %q, which was applied from it: give this Cluster a file of its own", cluster.Spec.ConfigPath, other.Name)}, nil
		}
	}
	return nil, nil //nolint:nilnil // neither refused nor failed
}

// inUse says that a file is another Cluster's.
func inUse(path, by string) *refusal {
	return &refusal{clusterprovisionerv1alpha1.ReasonConfigPathInUse, fmt.Sprintf(
		"file %q belongs to Cluster %q: give this Cluster a file of its own", path, by)}
}

// evidence is how well it is known that the tool has worked on a file for a Cluster. The more there is, the sooner the file is that Cluster's.
type evidence int

const (
	// noEvidence: the tool has not worked on the file, as far as anybody knows.
	noEvidence evidence = iota
	// assumed: the tool has worked, and the Secret that said on which file is gone, or cannot be used. It must not take the file of a Cluster whose
	// Secret names it.
	assumed
	// proven: the Secret with the state names the file.
	proven
)

// claim is a Cluster whose spec names a file.
type claim struct {
	cluster *clusterprovisionerv1alpha1.Cluster
	worked  evidence
}

// claimant returns the name of the Cluster that the file of this one belongs to; empty if that is this one. The file belongs to the
// Cluster that the tool has worked on it for, as far as that is known, and of several to the oldest.
func (r *Reconciler) claimant(
	ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, kept *store, all []clusterprovisionerv1alpha1.Cluster,
) (string, error) {
	path, err := r.configRoot.Resolve(cluster.Spec.ConfigPath)
	if err != nil {
		return "", nil //nolint:nilerr // reading the file fails for the same reason
	}
	first := claim{cluster, workedOn(cluster, kept, path, r.configRoot)}
	for i := range all {
		other := &all[i]
		if other.UID == cluster.UID || !names(other, path, r.configRoot) {
			continue
		}
		theirs, err := r.storeOf(ctx, other)
		if err != nil {
			return "", err
		}
		if next := (claim{other, workedOn(other, theirs, path, r.configRoot)}); next.precedes(first) {
			first = next
		}
	}
	if first.cluster == cluster {
		return "", nil
	}
	return first.cluster.Name, nil
}

// storeOf reads the Secret with the state of another Cluster from the API server. It returns nil if there is no such Secret.
func (r *Reconciler) storeOf(ctx context.Context, other *clusterprovisionerv1alpha1.Cluster) (*store, error) {
	seen := &observation{}
	err := r.observeStore(ctx, other, seen)
	return seen.stored, err
}

// precedes reports whether a file belongs to the Cluster of one claim rather than to that of another.
func (c claim) precedes(other claim) bool {
	a, b := c.cluster, other.cluster
	switch {
	case c.worked != other.worked:
		return c.worked > other.worked
	case !a.CreationTimestamp.Equal(&b.CreationTimestamp):
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.Name < b.Name
}

// names reports whether the spec of a Cluster names a file, which is a path without links.
func names(cluster *clusterprovisionerv1alpha1.Cluster, path string, root confine.Root) bool {
	if cluster.Spec.ConfigPath == "" {
		return false
	}
	at, err := root.Resolve(cluster.Spec.ConfigPath)
	return err == nil && at == path
}

// workedOn returns what there is to say that the tool has worked on a file for a Cluster.
func workedOn(cluster *clusterprovisionerv1alpha1.Cluster, kept *store, path string, root confine.Root) evidence {
	files := kept.files(root)
	switch {
	case slices.Contains(files, path):
		return proven
	case len(files) == 0 && begun(cluster):
		return assumed
	}
	return noEvidence
}

// begun reports whether the tool has been started for the Cluster.
func begun(cluster *clusterprovisionerv1alpha1.Cluster) bool {
	return cluster.Status.LastOperation != nil || cluster.Status.AppliedConfigHash != ""
}

// files returns the files, without links, of what the tool was last given and of what it has applied; empty stands for the working directory.
func (s *store) files(root confine.Root) []string {
	var files []string
	kept := s.clone()
	for _, from := range []document{kept.given, kept.applied} {
		if len(from.text) == 0 {
			continue
		}
		at := from.path
		if path, err := root.Resolve(at); at != "" && err == nil {
			at = path
		}
		files = append(files, at)
	}
	return files
}

// appliedElsewhere reports whether the cluster has to be removed with something else than the file that the spec names, or may have to be: the Secret
// that said so is gone, or cannot be used.
func (s *store) appliedElsewhere(cluster *clusterprovisionerv1alpha1.Cluster, root confine.Root) bool {
	from := s.toRemove()
	if len(from.text) == 0 {
		return begun(cluster)
	}
	path, err := root.Resolve(from.path)
	return from.path == "" || err != nil || !names(cluster, path, root)
}
