// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"

	"sigs.k8s.io/controller-runtime/pkg/log"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
)

// toolOf returns the tool of the spec.
func toolOf(cluster *clusterprovisionerv1alpha1.Cluster) (provision.Tool, error) {
	spec := cluster.Spec.Exec
	if spec == nil {
		return provision.Preset(string(provisionerOf(cluster)))
	}
	tool := provision.Tool{
		Name: string(clusterprovisionerv1alpha1.ProvisionerExec), ConfigName: "config.yaml",
		Up: spec.Up, Remove: spec.Remove, Version: spec.Version, StateFiles: spec.StateFiles, KubeconfigFile: spec.KubeconfigFile,
	}
	for _, variable := range spec.Env {
		tool.Env = append(tool.Env, variable.Name+"="+variable.Value)
	}
	return tool, nil
}

// provisionerOf returns the provisioner of the spec.
func provisionerOf(cluster *clusterprovisionerv1alpha1.Cluster) clusterprovisionerv1alpha1.Provisioner {
	return cmp.Or(cluster.Spec.Provisioner, clusterprovisionerv1alpha1.ProvisionerRKE)
}

// checkTool returns why the tool must not run: what it leaves could not be found. It would be too late to say so once it has made machines.
func checkTool(cluster *clusterprovisionerv1alpha1.Cluster, tool provision.Tool) *refusal {
	config := cmp.Or(cluster.Spec.ConfigPath, "/"+tool.ConfigName)
	if err := tool.Check(cluster.Name, config); err != nil {
		return &refusal{clusterprovisionerv1alpha1.ReasonConfigUnreadable, err.Error() + ". Correct spec.exec"}
	}
	if cluster.Spec.Exec != nil {
		return nil
	}
	for _, file := range tool.StateFiles { // a preset names one file each, and leaves it
		if err := checkName(provision.Values{Name: cluster.Name, Config: config}.Expand(file)); err != nil {
			return &refusal{clusterprovisionerv1alpha1.ReasonConfigUnreadable, "the state of the tool cannot be stored: " + err.Error() +
				". Rename the file of the configuration"}
		}
	}
	return nil
}

// observeVersion returns the version of the tool: before the first run, and after a run as long as it is not known. Otherwise it returns nothing.
func (r *Reconciler) observeVersion(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, seen *observation) string {
	first, unknown := cluster.Status.LastOperation == nil, cluster.Status.ToolVersion == ""
	if seen.forbidden != nil || !first && (!unknown || seen.left == nil) {
		return ""
	}
	version, err := r.provisioner.Version(ctx, seen.tool)
	if err != nil { // no reason not to run it: one that is missing is reported when it is started
		log.FromContext(ctx).V(1).Info("Cannot get the version of the tool", "cause", err.Error())
	}
	return version
}
