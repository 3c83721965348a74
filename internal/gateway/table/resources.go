// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Labels that name the roles of a node.
const (
	rolePrefix = "node-role.kubernetes.io/"
	roleLabel  = "kubernetes.io/role"
)

// namespaceCells returns what a table shows of a Namespace.
func namespaceCells(namespace *corev1.Namespace) []cell {
	return []cell{value(namespace.Name), value(string(namespace.Status.Phase)), age(namespace.CreationTimestamp.Time)}
}

// nodeCells returns what a table shows of a Node.
func nodeCells(node *corev1.Node) []cell {
	status := "Unknown"
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			status = "NotReady"
			if c.Status == corev1.ConditionTrue {
				status = "Ready"
			}
		}
	}
	if node.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	info := node.Status.NodeInfo
	return []cell{
		value(node.Name), value(status), text(strings.Join(rolesOf(node), ","), none), age(node.CreationTimestamp.Time), value(info.KubeletVersion),
		text(addressOf(node, corev1.NodeInternalIP), none), text(addressOf(node, corev1.NodeExternalIP), none), text(info.OSImage, unknown),
		text(info.KernelVersion, unknown), text(info.ContainerRuntimeVersion, unknown),
	}
}

// rolesOf returns the roles that the labels of a node name, in order.
func rolesOf(node *corev1.Node) []string {
	var roles []string
	for key, label := range node.Labels {
		role, named := strings.CutPrefix(key, rolePrefix)
		if key == roleLabel {
			role, named = label, true
		}
		if named && role != "" {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	return slices.Compact(roles)
}

func addressOf(node *corev1.Node, kind corev1.NodeAddressType) string {
	for _, address := range node.Status.Addresses {
		if address.Type == kind {
			return address.Address
		}
	}
	return ""
}

// deploymentCells returns what a table shows of a Deployment.
func deploymentCells(deployment *appsv1.Deployment) []cell {
	desired := int32(1)
	if deployment.Spec.Replicas != nil {
		desired = *deployment.Spec.Replicas
	}
	names := make([]string, 0, len(deployment.Spec.Template.Spec.Containers))
	images := make([]string, 0, cap(names))
	for i := range deployment.Spec.Template.Spec.Containers {
		container := &deployment.Spec.Template.Spec.Containers[i]
		names, images = append(names, container.Name), append(images, container.Image)
	}
	return []cell{
		value(deployment.Name), value(fmt.Sprintf("%d/%d", deployment.Status.ReadyReplicas, desired)), value(deployment.Status.UpdatedReplicas),
		value(deployment.Status.AvailableReplicas), age(deployment.CreationTimestamp.Time), value(strings.Join(names, ",")),
		value(strings.Join(images, ",")), value(metav1.FormatLabelSelector(deployment.Spec.Selector)),
	}
}

// serviceCells returns what a table shows of a Service.
func serviceCells(service *corev1.Service) []cell {
	clusterIP := none
	if len(service.Spec.ClusterIPs) > 0 {
		clusterIP = service.Spec.ClusterIPs[0]
	}
	return []cell{
		value(service.Name), value(string(service.Spec.Type)), value(clusterIP), value(externalIP(service)), text(portsOf(service), none),
		age(service.CreationTimestamp.Time), value(labels.FormatLabels(service.Spec.Selector)),
	}
}

// externalIP says where a Service can be reached from outside.
func externalIP(service *corev1.Service) string {
	switch service.Spec.Type {
	case corev1.ServiceTypeExternalName:
		return service.Spec.ExternalName
	case corev1.ServiceTypeLoadBalancer:
		addresses := make([]string, 0, len(service.Status.LoadBalancer.Ingress)+len(service.Spec.ExternalIPs))
		for i := range service.Status.LoadBalancer.Ingress {
			ingress := &service.Status.LoadBalancer.Ingress[i]
			address := ingress.IP
			if address == "" {
				address = ingress.Hostname
			}
			if address != "" && !slices.Contains(addresses, address) {
				addresses = append(addresses, address)
			}
		}
		slices.Sort(addresses)
		addresses = append(addresses, service.Spec.ExternalIPs...)
		if len(addresses) == 0 {
			return "<pending>"
		}
		return strings.Join(addresses, ",")
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
	}
	if len(service.Spec.ExternalIPs) == 0 {
		return none
	}
	return strings.Join(service.Spec.ExternalIPs, ",")
}

func portsOf(service *corev1.Service) string {
	ports := make([]string, 0, len(service.Spec.Ports))
	for i := range service.Spec.Ports {
		port := &service.Spec.Ports[i]
		shown := strconv.Itoa(int(port.Port))
		if port.NodePort > 0 {
			shown += ":" + strconv.Itoa(int(port.NodePort))
		}
		ports = append(ports, shown+"/"+string(port.Protocol))
	}
	return strings.Join(ports, ",")
}
