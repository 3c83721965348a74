// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package incluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/test/rig"
)

// pods returns the live Pods of a component.
func (s *stage) pods(ctx context.Context, component string) ([]corev1.Pod, error) {
	var list corev1.PodList
	err := s.Client.List(ctx, &list, client.InNamespace(rig.Namespace), client.MatchingLabels{"app.kubernetes.io/component": component})
	var live []corev1.Pod
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			live = append(live, list.Items[i])
		}
	}
	return live, err
}

func ready(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// bothRun waits until both Deployments consist of two ready Pods of a version each.
func (s *stage) bothRun(t *testing.T, tag string) {
	t.Helper()
	for component, name := range map[string]string{"manager": "windlass", "gateway": "windlass-gateway"} {
		s.eventually(t, name+" has two Pods of windlass:"+tag, func(ctx context.Context) error {
			deployment := &appsv1.Deployment{}
			if err := s.Client.Get(ctx, client.ObjectKey{Namespace: rig.Namespace, Name: name}, deployment); err != nil {
				return err
			}
			if is := deployment.Status; is.ObservedGeneration != deployment.Generation || is.UpdatedReplicas != 2 || is.ReadyReplicas != 2 || is.Replicas != 2 {
				return fmt.Errorf("its status is %+v", is)
			}
			pods, err := s.pods(ctx, component)
			if err != nil || len(pods) != 2 {
				return fmt.Errorf("there are %d Pods (%w)", len(pods), err)
			}
			for i := range pods {
				if !ready(&pods[i]) || pods[i].Spec.Containers[0].Image != "windlass:"+tag {
					return fmt.Errorf("Pod %s of %s is ready: %t", pods[i].Name, pods[i].Spec.Containers[0].Image, ready(&pods[i]))
				}
			}
			return nil
		})
	}
}

// confined looks at the processes themselves: what the kernel knows of them, not what the manifests ask for.
func (s *stage) confined(t *testing.T) {
	t.Helper()
	for component, priority := range map[string]int32{"manager": 2000000000, "gateway": 0} {
		pods, err := s.pods(t.Context(), component)
		must(t, err)
		for i := range pods {
			if got := ptr.Deref(pods[i].Spec.Priority, 0); got != priority {
				t.Errorf("%s has the priority %d, want %d", pods[i].Name, got, priority)
			}
			id, _ := strings.CutPrefix(pods[i].Status.ContainerStatuses[0].ContainerID, "containerd://")
			process := processOf(t, id, "windlass")
			status, err := os.ReadFile(filepath.Join(process, "status"))
			must(t, err)
			for _, line := range []string{
				"Uid:\t65532\t65532\t65532\t65532\n", "Gid:\t65532\t65532\t65532\t65532\n", "CapEff:\t0000000000000000\n", "CapBnd:\t0000000000000000\n", "NoNewPrivs:\t1\n",
				"Seccomp:\t2\n",
			} {
				if !strings.Contains(string(status), line) {
					t.Errorf("the process of %s does not have %q:\n%s", pods[i].Name, line, status)
				}
			}
			mounts, err := os.ReadFile(filepath.Join(process, "mounts"))
			must(t, err)
			if root := strings.Fields(strings.SplitN(string(mounts), "\n", 2)[0]); root[1] != "/" || !strings.HasPrefix(root[3]+",", "ro,") {
				t.Errorf("the root of %s is %v", pods[i].Name, root)
			}
		}
	}
}

// processOf returns the folder in /proc of a program's process in a container.
func processOf(t *testing.T, container, program string) string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	must(t, err)
	for _, process := range all {
		groups, _ := os.ReadFile(filepath.Join(process, "cgroup")) // it can end meanwhile
		name, _ := os.ReadFile(filepath.Join(process, "comm"))
		if strings.Contains(string(groups), container) && strings.TrimSpace(string(name)) == program {
			return process
		}
	}
	t.Fatalf("container %s has no process", container)
	return ""
}

// poolAndPodSet has the cluster do what it is there for.
func (s *stage) poolAndPodSet(t *testing.T) {
	t.Helper()
	s.do(t, "label", "node", node, "node-role.kubernetes.io/week=")
	s.attended(t, "first")
	s.apply(t, `apiVersion: apps.jicki.cn/v1alpha1
kind: PodSet
metadata: {name: job, namespace: default}
spec:
  size: 2
  nodePool: week
  template:
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: main, image: "busybox:1", imagePullPolicy: IfNotPresent, command: [sh]}]
`)
	s.do(t, "wait", "--for=condition=Ready", "--timeout=300s", "podset/job")
}

// attended changes the pool, and waits until the node has the change.
func (s *stage) attended(t *testing.T, value string) time.Duration {
	t.Helper()
	began := time.Now()
	s.apply(t, fmt.Sprintf(`apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: week}
spec: {labels: {example.com/week: %q}, handler: runc}
`, value))
	s.eventually(t, "the node has the label "+value, func(ctx context.Context) error {
		found := &corev1.Node{}
		if err := s.Client.Get(ctx, client.ObjectKey{Name: node}, found); err != nil {
			return err
		}
		if got := found.Labels["example.com/week"]; got != value {
			return fmt.Errorf("it has %q", got)
		}
		return nil
	})
	return time.Since(began)
}

// gatewayServes asks each Pod over TLS, with a token of somebody who may read nodes.
func (s *stage) gatewayServes(t *testing.T) {
	t.Helper()
	token := strings.TrimSpace(s.do(t, "create", "token", "windlass-gateway", "-n", rig.Namespace))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.authority, ServerName: served, MinVersion: tls.VersionTLS13}}
	defer transport.CloseIdleConnections()
	pods, err := s.pods(t.Context(), "gateway")
	must(t, err)
	for i := range pods {
		url := "https://" + net.JoinHostPort(pods[i].Status.PodIP, "8090") + "/v1/nodes"
		s.eventually(t, "the HTTP API lists nodes", func(ctx context.Context) error {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
			if err != nil {
				return err
			}
			request.Header.Set("Authorization", "Bearer "+token)
			response, err := (&http.Client{Transport: transport}).Do(request)
			if err != nil {
				return err
			}
			defer func() { _ = response.Body.Close() }()
			raw, err := io.ReadAll(response.Body)
			if err == nil && (response.StatusCode != http.StatusOK || !strings.Contains(string(raw), `"`+node+`"`)) {
				err = fmt.Errorf("status %d: %.300s", response.StatusCode, raw)
			}
			return err
		})
	}
}

// leader returns the name of the Pod that holds the Lease.
func (s *stage) leader(ctx context.Context) (string, error) {
	lease := &coordinationv1.Lease{}
	err := s.Client.Get(ctx, client.ObjectKey{Namespace: rig.Namespace, Name: rig.LeaseName}, lease)
	return ptr.Deref(lease.Spec.HolderIdentity, ""), err
}

// takeover deletes the Pod that leads, and waits for another leader: the one that was waiting, or the one that comes instead.
func (s *stage) takeover(t *testing.T) {
	t.Helper()
	first, err := s.leader(t.Context())
	must(t, err)
	began := time.Now()
	s.do(t, "delete", "pod", "-n", rig.Namespace, first, "--wait=false")
	s.eventually(t, "another Pod leads", func(ctx context.Context) error {
		holder, err := s.leader(ctx)
		if err == nil && (holder == first || !strings.HasPrefix(holder, "windlass-")) {
			err = fmt.Errorf("%q leads", holder)
		}
		return err
	})
	t.Logf("it led after %s", time.Since(began).Round(time.Millisecond))
	s.attended(t, "second")
	s.bothRun(t, "dev")
}

// evictions drains the node of its managers as kubectl drain does. As the node takes no new Pod, the second eviction would leave none.
func (s *stage) evictions(t *testing.T) {
	t.Helper()
	s.eventually(t, "one manager may be evicted", func(ctx context.Context) error {
		budget := &policyv1.PodDisruptionBudget{}
		err := s.Client.Get(ctx, client.ObjectKey{Namespace: rig.Namespace, Name: "windlass"}, budget)
		if err == nil && (budget.Status.DisruptionsAllowed != 1 || budget.Status.ObservedGeneration != budget.Generation) {
			err = fmt.Errorf("the budget is %+v", budget.Status)
		}
		return err
	})
	s.do(t, "cordon", node)
	pods, err := s.pods(t.Context(), "manager")
	must(t, err)
	evict := func(ctx context.Context, pod *corev1.Pod) error {
		eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
		return s.Client.SubResource("eviction").Create(ctx, pod, eviction)
	}
	must(t, evict(t.Context(), &pods[0]))
	if err := evict(t.Context(), &pods[1]); !apierrors.IsTooManyRequests(err) {
		t.Errorf("the second eviction is answered %v", err)
	}
	s.attended(t, "third")
	s.do(t, "uncordon", node)
	s.bothRun(t, "dev")
}

// upgrade rolls another version out, and changes the pool all the while. Each change must arrive, whoever leads.
func (s *stage) upgrade(t *testing.T) {
	t.Helper()
	s.install(t, s, "next")
	var longest time.Duration
	changes := 0
	s.eventually(t, "the new version is rolled out", func(ctx context.Context) error {
		changes++
		longest = max(longest, s.attended(t, "during-"+strconv.Itoa(changes))) //nolint:contextcheck // because it waits as long as any wait
		pods, err := s.pods(ctx, "manager")
		if err != nil {
			return err
		}
		fit := 0
		for i := range pods {
			if ready(&pods[i]) {
				fit++
			}
		}
		if fit == 0 {
			t.Error("no manager is ready")
		}
		deployment := &appsv1.Deployment{}
		err = s.Client.Get(ctx, client.ObjectKey{Namespace: rig.Namespace, Name: "windlass"}, deployment)
		if is := deployment.Status; err == nil && (is.ObservedGeneration != deployment.Generation || is.UpdatedReplicas != 2 || is.Replicas != 2 || is.ReadyReplicas != 2) {
			err = fmt.Errorf("its status is %+v", is)
		}
		return err
	})
	t.Logf("%d changes of the pool arrived, the slowest after %s", changes, longest.Round(time.Millisecond))
	s.bothRun(t, "next")
	s.attended(t, "after")
	s.do(t, "wait", "--for=condition=Ready", "--timeout=300s", "podset/job")
}

// nothingWentWrong reads what is left of the logs.
func (s *stage) nothingWentWrong(t *testing.T) {
	t.Helper()
	for _, component := range []string{"manager", "gateway"} {
		pods, err := s.pods(t.Context(), component)
		must(t, err)
		for i := range pods {
			if restarts := pods[i].Status.ContainerStatuses[0].RestartCount; restarts != 0 {
				t.Errorf("%s was started again %d times", pods[i].Name, restarts)
			}
			log := s.do(t, "logs", "-n", rig.Namespace, pods[i].Name)
			for _, bad := range []string{"is forbidden: User ", "Observed a panic", "read-only file system"} {
				if strings.Contains(log, bad) {
					t.Errorf("the log of %s has %q:\n%s", pods[i].Name, bad, log)
				}
			}
		}
	}
}
