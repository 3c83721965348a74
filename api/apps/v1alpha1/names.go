// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import corev1 "k8s.io/api/core/v1"

// Labels of the pods of a PodSet, and of the objects it owns.
const (
	// LabelApp with the value LabelAppValue is on every pod of every PodSet.
	LabelApp = "app"
	// LabelAppValue is the value of LabelApp.
	LabelAppValue = "podSet"
	// LabelPodSet names the PodSet. A name of more than 63 characters is shortened and made unique by a hash.
	LabelPodSet = "podSet_cr"
)

// RetriedAnnotation is on a Deployment whose pods were refused until their pool was there: when the failure began after which Windlass had
// its ReplicaSet create them at once. The second time, two seconds later, ends with "/2".
const RetriedAnnotation = "apps.jicki.cn/retried-failure"

// What the pods of a PodSet without a template run.
const (
	// DefaultContainerName is the name of the container, and of its port.
	DefaultContainerName = "podset"
	// DefaultImage is the image.
	DefaultImage = "busybox"
	// DefaultPort is the port that the container declares.
	DefaultPort = 1234
)

// DefaultTemplate returns the template of a PodSet that has none.
func DefaultTemplate() *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: DefaultContainerName, Image: DefaultImage, Command: []string{"sleep", "3600"},
		Ports: []corev1.ContainerPort{{Name: DefaultContainerName, ContainerPort: DefaultPort, Protocol: corev1.ProtocolTCP}},
	}}}}
}

// MaxNodes is how many pod names status.nodes holds at most.
const MaxNodes = 500

// MaxTemplateBytes is how large the template of a PodSet can be. It is generous: a Pod with ten containers has some 10 KiB.
const MaxTemplateBytes = 64 << 10

// The environment of a debugging container names the PodBuggerTool that asked for it. Nobody can change it: an ephemeral container is
// immutable. Of a PodBuggerTool that is created anew with the same spec, the container keeps the first UID.
const (
	EnvTool    = "WINDLASS_TOOL"
	EnvToolUID = "WINDLASS_TOOL_UID"
)

// MaxPodTools is how many pods status.pods of a PodBuggerTool tells of at most.
const MaxPodTools = 50
