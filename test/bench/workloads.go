// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The nodes that simulated pods run on: enough for all of them, and not so many that the scheduler is what is measured.
const (
	podsPerNode = 110
	spareNodes  = 4
)

// stages make the simulator do what a kubelet does with a pod whose image is there: it runs at once, and is gone at once.
// Without a stage for nodes it would look after none.
const stages = `apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: node-heartbeat}
spec:
  resourceRef: {apiGroup: v1, kind: Node}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
  delay: {durationMilliseconds: 600000}
  next: {statusTemplate: "phase: Running"}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-ready}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.phase, operator: In, values: [Pending]}
  next:
    statusTemplate: |
      {{ $now := Now }}
      phase: Running
      startTime: {{ $now | Quote }}
      conditions:
      {{ range $type := (list "PodReadyToStartContainers" "Initialized" "Ready" "ContainersReady") }}
      - {type: {{ $type }}, status: "True", lastTransitionTime: {{ $now | Quote }}}
      {{ end }}
      containerStatuses:
      {{ range .spec.containers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: true
        restartCount: 0
        state: {running: {startedAt: {{ $now | Quote }}}}
      {{ end }}
      {{ with PodIPsWith .spec.nodeName false ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) }}
      podIP: {{ index . 0 | Quote }}
      podIPs:
      {{ range . }}
      - ip: {{ . | Quote }}
      {{ end }}
      {{ end }}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-delete}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: Exists}
  next: {delete: true}
`

// startWorkloads starts what makes pods run, with the settings of a cluster that is tuned for many objects: no limit of
// requests that would hide what they cost.
func (r *controlPlane) startWorkloads(ctx context.Context) error {
	kubeconfigs := map[string]string{}
	for _, user := range []string{"system:kube-controller-manager", "system:kube-scheduler"} {
		config, err := r.user(user)
		if err != nil {
			return err
		}
		if kubeconfigs[user], err = r.AddKubeconfig(strings.TrimPrefix(user, "system:"), config); err != nil {
			return err
		}
	}
	path := filepath.Join(r.Dir, "stages.yaml")
	if err := os.WriteFile(path, []byte(stages), 0o600); err != nil {
		return fmt.Errorf("cannot write the stages of the simulator: %w", err)
	}
	programs := []struct {
		name string
		args []string
	}{
		{"kube-controller-manager", []string{
			"--kubeconfig=" + kubeconfigs["system:kube-controller-manager"], "--leader-elect=false", "--secure-port=0",
			"--use-service-account-credentials=true", "--kube-api-qps=1000", "--kube-api-burst=2000",
			"--flex-volume-plugin-dir=" + filepath.Join(r.Dir, "volume-plugins"),
		}},
		{"kube-scheduler", []string{
			"--kubeconfig=" + kubeconfigs["system:kube-scheduler"], "--leader-elect=false", "--secure-port=0",
			"--kube-api-qps=1000", "--kube-api-burst=2000",
		}},
		{"kwok-controller", []string{
			"--kubeconfig=" + r.Admin, "--config=" + path, "--manage-all-nodes=false",
			"--manage-nodes-with-annotation-selector=" + simulatedAnnotation + "=" + simulatedValue,
			"--node-lease-duration-seconds=40", "--cidr=10.128.0.0/9",
		}},
	}
	for _, program := range programs {
		p, err := r.startProgram(ctx, program.name, r.Kubernetes(program.name), program.args...)
		if err != nil {
			return err
		}
		r.pids[program.name] = p.PID
	}
	return nil
}

// checkOthers returns an error if one of the other programs has ended.
func (r *controlPlane) checkOthers() error {
	for _, p := range r.others {
		if err := p.Ended(); err != nil {
			return err
		}
	}
	return nil
}

// addSimulatedNodes adds nodes for that many pods and waits until pods can be scheduled to them.
func (r *controlPlane) addSimulatedNodes(ctx context.Context, pods int) error {
	count := pods/podsPerNode + spareNodes
	ready, err := r.await(ctx, &corev1.Node{}, count, func(object client.Object) bool {
		node, ok := object.(*corev1.Node)
		return ok && len(node.Spec.Taints) == 0
	})
	if err != nil {
		return err
	}
	defer ready.Cancel()
	if err := r.addNodes(ctx, count, simulated); err != nil {
		return err
	}
	if _, err := ready.Wait(ctx, time.Minute); err != nil {
		return fmt.Errorf("cannot get simulated nodes ready: %w", err)
	}
	return r.checkOthers()
}
