// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"crypto/rand"
	"strings"

	corev1 "k8s.io/api/core/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
)

// debugPrefix begins the names of containers that have none, as with kubectl debug.
const debugPrefix = "debugger-"

// DebugRequest asks for a debugging container in a pod.
type DebugRequest struct {
	// Name of the container. Default: debugger- and five letters or digits.
	Name string `json:"name,omitempty" maxLength:"63" doc:"Name of the container. The default begins with debugger-"`
	// Image and Command of the container.
	Image   string   `json:"image,omitempty" maxLength:"1024" doc:"Image. Exactly one of image and tool" example:"busybox"`
	Command []string `json:"command,omitempty" maxItems:"64" nullable:"false" doc:"Command. The default is that of the image, or of the tool"`
	// Target is the container whose processes it sees.
	Target string `json:"target,omitempty" maxLength:"63" doc:"Container of the pod whose processes it sees. The default is none, or that of the tool"`
	// Tool is the namespace and name of a PodBuggerTool.
	Tool string `json:"tool,omitempty" maxLength:"317" doc:"A PodBuggerTool, as namespace/name: the container is as the tool says" example:"testing/shell"`
}

// ToolOf returns the namespace and the name of the tool; empty without one.
func (r *DebugRequest) ToolOf() (namespace, name string, err error) {
	switch {
	case (r.Image == "") == (r.Tool == ""):
		return "", "", wrongField("image", "exactly one of image and tool must be there")
	case r.Tool == "":
		return "", "", nil
	}
	namespace, name, ok := strings.Cut(r.Tool, "/")
	if !ok || namespace == "" || name == "" || strings.ContainsAny(name, "/%\x00") || strings.Trim(name, ".") == "" || strings.ContainsAny(namespace, "%.\x00") {
		return "", "", wrongField("tool", "must be namespace/name of a PodBuggerTool")
	}
	return namespace, name, nil
}

// Debug returns the container. The tool is nil for a request without one.
func Debug(r *DebugRequest, tool *appsv1alpha1.PodBuggerTool) corev1.EphemeralContainer {
	out := corev1.EphemeralContainer{
		EphemeralContainerCommon: corev1.EphemeralContainerCommon{
			Name: r.Name, Image: r.Image, Command: r.Command, ImagePullPolicy: corev1.PullIfNotPresent, Stdin: true, TTY: true,
		},
		TargetContainerName: r.Target,
	}
	if tool != nil {
		out.Image, out.SecurityContext = tool.Spec.Image, tool.Spec.SecurityContext
		if len(out.Command) == 0 {
			out.Command = tool.Spec.Command
		}
		if out.TargetContainerName == "" {
			out.TargetContainerName = tool.Spec.TargetContainer
		}
	}
	if out.Name == "" {
		out.Name = debugPrefix + strings.ToLower(rand.Text()[:5])
	}
	return out
}
