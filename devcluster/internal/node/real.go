// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	cloudprovider "k8s.io/cloud-provider/api"
)

// registerPatience is how long a kubelet can take to register its node and make it ready.
const registerPatience = 2 * time.Minute

// Registered is a node that its kubelet has registered.
type Registered struct {
	Name string
	// Since is when the kubelet was started. Conditions from before are ignored.
	Since time.Time
}

// Adopt acts as the cloud provider of a real kubelet's node: it sets the loopback address as the node's address and removes
// the taint that keeps pods away. It applies labels and taints of the spec; nil leaves them as they are. It returns when
// the node is ready.
func Adopt(ctx context.Context, client kubernetes.Interface, registered Registered, spec *Spec) error {
	name := registered.Name
	if err := awaitNode(ctx, client, name, "registered", func(*corev1.Node) bool { return true }); err != nil {
		return err
	}
	if err := giveAddress(ctx, client, name); err != nil {
		return err
	}
	_, err := change(ctx, client, name, func(node *corev1.Node) error {
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
			return taint.Key == cloudprovider.TaintExternalCloudProvider
		})
		if spec == nil {
			return nil
		}
		wanted := *spec
		wanted.Real = true
		return apply(node, wanted)
	})
	if err != nil {
		return err
	}
	// The API server keeps time to the second.
	since := registered.Since.Truncate(time.Second)
	return awaitNode(ctx, client, name, "ready", func(node *corev1.Node) bool {
		return ready(node) && slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
			return condition.Type == corev1.NodeReady && !condition.LastHeartbeatTime.Time.Before(since)
		})
	})
}

// MakeRoom deletes the simulated node of a name, if there is one. The kubelet then runs its pods.
func MakeRoom(ctx context.Context, client kubernetes.Interface, name string) error {
	return deleteNode(ctx, client, name, true)
}

// Unregister deletes the node that a kubelet has registered and does not keep. A simulated node of that name stays.
func Unregister(ctx context.Context, client kubernetes.Interface, name string) error {
	return deleteNode(ctx, client, name, false)
}

// deleteNode deletes the node of a name if it is of the wanted kind.
func deleteNode(ctx context.Context, client kubernetes.Interface, name string, simulated bool) error {
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot read node %q: %w", name, err)
	}
	if isSimulated(node) != simulated {
		return nil
	}
	err = client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(node.UID))})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("cannot delete node %q: %w", name, err)
	}
	return nil
}

// giveAddress writes the addresses once. The kubelet keeps existing addresses.
func giveAddress(ctx context.Context, client kubernetes.Interface, name string) error {
	addresses := []corev1.NodeAddress{
		{Type: corev1.NodeHostName, Address: name},
		{Type: corev1.NodeInternalIP, Address: "127.0.0.1"},
		{Type: KubeletAddressType, Address: "127.0.0.1"},
	}
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil || slices.Equal(node.Status.Addresses, addresses) {
			return err
		}
		node.Status.Addresses = addresses
		_, err = client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("cannot give node %q its address: %w", name, err)
	}
	return nil
}

// awaitNode waits until a node has reached a state, which the error names.
func awaitNode(ctx context.Context, client kubernetes.Interface, name, state string, reached func(*corev1.Node) bool) error {
	look := func(ctx context.Context) (bool, error) {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return reached(node), notReadyBecause(node)
	}
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, registerPatience, true, func(ctx context.Context) (bool, error) {
		done, why := look(ctx)
		if ctx.Err() == nil { // An error caused by the end of the patience says nothing.
			last = why
		}
		return done, nil
	})
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("node %q is not %s after %s: %w", name, state, registerPatience, last)
}

// notReadyBecause returns the reason that the kubelet reports.
func notReadyBecause(node *corev1.Node) error {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status != corev1.ConditionTrue {
			return errors.New(condition.Message)
		}
	}
	return fmt.Errorf("taints %v", node.Spec.Taints)
}
