// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
)

// What marks Secrets, Jobs and Pods of runs. The label is not that of a cluster's other Secrets: a Cluster cannot name its run's as the one
// for its kubeconfig.
const (
	runLabel         = "clusterprovisioner.rke.io/run-of"
	componentLabel   = "app.kubernetes.io/component"
	component        = "provisioning-tool"
	nameAnnotation   = "clusterprovisioner.rke.io/cluster-name"
	actionAnnotation = "clusterprovisioner.rke.io/action"
	jobAnnotation    = "clusterprovisioner.rke.io/job-uid"
	requestKey       = "request"
	resultKey        = "result"
)

const (
	// user is the one of the containers. It has no name, and owns nothing on a node.
	user int64 = 65532
	// absence is how long a run that has ended waits for a manager.
	absence = time.Hour
	// handover is how long a Pod that is told to end waits, after its tool, for a manager that stores what it left.
	handover = 30 * time.Second
	// container is the name of the one that runs the tool.
	container = "tool"
)

// labelsFor are on everything of a cluster's runs.
func labelsFor(cluster string) map[string]string {
	return map[string]string{"app.kubernetes.io/managed-by": "windlass", componentLabel: component, runLabel: cluster}
}

// secretName is the name of the cluster's Secret.
func secretName(cluster string) string { return "windlass-run-" + cluster }

// jobName is the name of a run's Job. Runs of different clusters can have the same ID.
func jobName(cluster, id string) string {
	sum := sha256.Sum256([]byte(cluster))
	return strings.ToLower(id) + "-" + hex.EncodeToString(sum[:5])
}

// manifest is the Job of a run. It has no owner, as the Secret: the run that removes the machines begins after the Cluster has been deleted. Forget
// deletes it.
func manifest(options Options, wanted provision.Request, image string) *batchv1.Job {
	labels := labelsFor(wanted.Cluster)
	deadline := seconds(wanted.Timeout + wanted.Grace + absence)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: options.Namespace, Name: jobName(wanted.Cluster, wanted.ID), Labels: labels,
			Annotations: map[string]string{
				clusterprovisionerv1alpha1.OperationAnnotation: wanted.ID, actionAnnotation: string(wanted.Action), nameAnnotation: wanted.Name,
			},
		},
		Spec: batchv1.JobSpec{
			// A tool that ended badly may have done half of its work: Windlass decides whether and when it runs again.
			BackoffLimit: new(int32(0)), PodReplacementPolicy: new(batchv1.Failed),
			ActiveDeadlineSeconds: &deadline,
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       podSpec(options, wanted, image, deadline),
			},
		},
	}
}

func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// podSpec is a Pod at the level "restricted" of Pod Security, without a token. It has the deadline of its Job, which somebody can delete without it: it would
// wait for a manager for ever.
func podSpec(options Options, wanted provision.Request, image string, deadline int64) corev1.PodSpec {
	memory := func(name, size string) corev1.Volume {
		limit := resource.MustParse(size)
		return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: &limit},
		}}
	}
	return corev1.PodSpec{
		AutomountServiceAccountToken: new(false), EnableServiceLinks: new(false), RestartPolicy: corev1.RestartPolicyNever,
		ImagePullSecrets:              options.PullSecrets,
		ActiveDeadlineSeconds:         &deadline,
		TerminationGracePeriodSeconds: new(seconds(wanted.Grace + handover + handover)),
		NodeSelector:                  map[string]string{corev1.LabelOSStable: "linux"},
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(user), RunAsGroup: new(user), FSGroup: new(user),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		InitContainers: []corev1.Container{{
			Name: "supervisor", Image: options.Supervisor, Args: []string{Command, "prepare"},
			SecurityContext: confined(), Resources: resources("20m", "64Mi", "256Mi"),
			VolumeMounts: []corev1.VolumeMount{
				{Name: "program", MountPath: programDir}, {Name: "run", MountPath: runDir}, {Name: "request", MountPath: requestDir, ReadOnly: true},
			},
		}},
		Containers: []corev1.Container{{
			Name: container, Image: image, Command: []string{program, Command, "run"},
			SecurityContext: confined(), Resources: resources("100m", "128Mi", "1Gi"),
			VolumeMounts: []corev1.VolumeMount{
				{Name: "program", MountPath: programDir, ReadOnly: true}, {Name: "run", MountPath: runDir}, {Name: "tmp", MountPath: "/tmp"},
			},
		}},
		Volumes: []corev1.Volume{
			{Name: "program", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse("512Mi"))}}},
			memory("run", "256Mi"), memory("tmp", "64Mi"),
			{Name: "request", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
				SecretName: secretName(wanted.Cluster), Items: []corev1.KeyToPath{{Key: requestKey, Path: requestKey}},
			}}},
		},
	}
}

func confined() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

func resources(cpu, memory, limit string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)},
	}
}
