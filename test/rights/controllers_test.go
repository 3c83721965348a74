// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/test/rig"
)

// closed is a namespace that has not allowed Windlass to read its Secrets when the test begins.
const closed = "closed"

// whenOwned is why a right to write finalizers is granted although no request uses it.
const whenOwned = "admission asks for it when an object gets an owner that it blocks"

// controller is how one is run, and what happens to its objects.
type controller struct {
	args []string
	live func(t *testing.T, s *stage, name string)
	// unseen are rights whose use no request shows, with the reason why they are granted.
	unseen map[string]string
}

// controllers returns all of them, by their name in --controllers.
func controllers() map[string]controller {
	const (
		events  = "an event that repeats is patched: it takes minutes"
		orphans = "an object is read once more before its machine is removed: it takes minutes"
	)
	return map[string]controller{
		"nodepool": {live: livePools, unseen: map[string]string{
			"update nodepools/finalizers.nodes.lailin.xyz": whenOwned,
			"patch events.events.k8s.io":                   events,
		}},
		"podset": {live: livePodSets, unseen: map[string]string{
			"update podsets/finalizers.apps.jicki.cn": whenOwned,
			"patch events.events.k8s.io":              events,
		}},
		"podbuggertool": {live: liveTools, unseen: map[string]string{"patch events.events.k8s.io": events}},
		"virtualmachine": {
			args: []string{"--vm-driver=simulated"}, live: liveMachines,
			unseen: map[string]string{"patch events.events.k8s.io": events, "get virtualmachines.cloudnative.tw": orphans},
		},
		"cluster": {args: []string{"--allowed-provisioners=exec"}, live: liveClusters, unseen: map[string]string{
			"update clusters/finalizers.clusterprovisioner.rke.io": whenOwned,
			"patch events.events.k8s.io":                           events,
		}},
		"kubeconfig": {live: liveKubeconfigs, unseen: map[string]string{
			"update kubeconfigs/finalizers.clusterprovisioner.rke.io": whenOwned,
			"patch events.events.k8s.io":                              events,
		}},
	}
}

func livePools(t *testing.T, s *stage, _ string) {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "alone", Labels: map[string]string{"node-role.kubernetes.io/solo": "true"}}}
	must(t, s.Client.Create(t.Context(), node))
	s.apply(t, `{apiVersion: nodes.lailin.xyz/v1, kind: NodePool, metadata: {name: solo}, spec: {labels: {example.com/pool: solo},
		allowedNamespaces: {from: Selector, selector: {matchLabels: {pool: solo}}},
		defaultFor: {namespaceSelector: {matchLabels: {pool: solo}}}, drain: {policy: Evict}}}`)
	s.wait(t, "nodepool/solo", "condition=Ready")
	s.wait(t, "node/alone", "jsonpath={.metadata.labels.example\\.com/pool}=solo")
	s.edit(t, "nodepool/solo", `{"spec":{"handler":"other","defaultFor":null}}`)
	eventually(t, func(ctx context.Context) error {
		class := &nodev1.RuntimeClass{}
		err := s.Client.Get(ctx, client.ObjectKey{Name: "solo"}, class)
		if err == nil && class.Handler != "other" {
			return fmt.Errorf("the handler is %q", class.Handler)
		}
		return err
	})
	s.apply(t, `{apiVersion: v1, kind: Namespace, metadata: {name: solo, labels: {pool: solo}}}`)
	s.apply(t, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: solo}}`)
	s.apply(t, `{apiVersion: v1, kind: Pod, metadata: {name: chosen, namespace: solo}, spec: {runtimeClassName: solo, nodeName: alone,
		terminationGracePeriodSeconds: 0, containers: [{name: one, image: none}]}}`)
	s.edit(t, "node/alone", `{"metadata":{"labels":{"node-role.kubernetes.io/solo":null}}}`)
	eventually(t, func(ctx context.Context) error {
		pod := &corev1.Pod{}
		if err := s.Client.Get(ctx, client.ObjectKey{Namespace: "solo", Name: "chosen"}, pod); err == nil {
			return fmt.Errorf("pod %q was not evicted", pod.Name)
		}
		return nil
	})
	s.gone(t, &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "solo"}})
}

func livePodSets(t *testing.T, s *stage, _ string) {
	t.Helper()
	s.apply(t, `{apiVersion: apps.jicki.cn/v1alpha1, kind: PodSet, metadata: {name: web, namespace: default}, spec: {size: 2, minAvailable: 1}}`)
	s.wait(t, "deployment/web", "jsonpath={.spec.replicas}=2")
	s.wait(t, "poddisruptionbudget/web", "jsonpath={.spec.minAvailable}=1")
	s.edit(t, "podset/web", `{"spec":{"size":3,"minAvailable":2}}`)
	s.wait(t, "deployment/web", "jsonpath={.spec.replicas}=3")
	s.wait(t, "poddisruptionbudget/web", "jsonpath={.spec.minAvailable}=2")
	s.edit(t, "podset/web", `{"spec":{"minAvailable":null}}`)
	s.wait(t, "poddisruptionbudget/web", "delete")
	s.wait(t, "podset/web", "jsonpath={.status.observedGeneration}=3")
	s.resumes(t, "podset/web", &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "web"}})
	s.gone(t, &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "web"}})
}

func liveTools(t *testing.T, s *stage, _ string) {
	t.Helper()
	s.apply(t, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: default}}`)
	s.apply(t, `{apiVersion: v1, kind: Pod, metadata: {name: patient, namespace: default, labels: {app: patient}},
		spec: {containers: [{name: one, image: none}]}}`)
	pod := &corev1.Pod{}
	must(t, s.Client.Get(t.Context(), client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "patient"}, pod))
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "one", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}}
	must(t, s.Client.Status().Update(t.Context(), pod))
	s.apply(t, `{apiVersion: apps.jicki.cn/v1alpha1, kind: PodBuggerTool, metadata: {name: shell, namespace: default},
		spec: {label: app=patient, image: busybox}}`)
	eventually(t, func(ctx context.Context) error {
		if err := s.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if len(pod.Spec.EphemeralContainers) == 0 {
			return fmt.Errorf("pod %q has no debugging container", pod.Name)
		}
		return nil
	})
	s.wait(t, "podbuggertool/shell", "jsonpath={.status.observedGeneration}=1")
	s.resumes(t, "podbuggertool/shell", &appsv1alpha1.PodBuggerTool{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "shell"}})
}

// resumes pauses an object until a time that has come, and waits until it goes on.
func (s *stage) resumes(t *testing.T, name string, object client.Object) {
	t.Helper()
	s.edit(t, name, `{"metadata":{"annotations":{"windlass.io/paused":"2026-01-01T00:00:00Z"}}}`)
	eventually(t, func(ctx context.Context) error {
		if err := s.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		if until, ok := object.GetAnnotations()["windlass.io/paused"]; ok {
			return fmt.Errorf("%s is still paused until %s", name, until)
		}
		return nil
	})
}

// liveMachines also has the administrator of a namespace run the command that a condition names.
func liveMachines(t *testing.T, s *stage, name string) {
	t.Helper()
	s.apply(t, `{apiVersion: v1, kind: Namespace, metadata: {name: `+closed+`}}`)
	s.apply(t, `{apiVersion: v1, kind: Secret, metadata: {name: registry, namespace: `+closed+`}, type: kubernetes.io/dockerconfigjson,
		stringData: {.dockerconfigjson: '{"auths":{}}'}}`)
	const machine = `{apiVersion: cloudnative.tw/v1alpha1, kind: VirtualMachine, metadata: {name: %s, namespace: %s},
		spec: {resource: {cpu: 1, memory: 64Mi}, deletionPolicy: Retain%s}}`
	s.apply(t, fmt.Sprintf(machine, "one", "default", ""))
	s.apply(t, fmt.Sprintf(machine, "two", "default", ""))
	s.apply(t, fmt.Sprintf(machine, "private", closed, ", image: {name: nginx, pullSecret: {name: registry}}"))
	vm := &cloudnativev1alpha1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: closed, Name: "private"}}
	command := ""
	eventually(t, func(ctx context.Context) error {
		if err := s.Client.Get(ctx, client.ObjectKeyFromObject(vm), vm); err != nil {
			return err
		}
		for _, condition := range vm.Status.Conditions {
			if condition.Reason == cloudnativev1alpha1.ReasonSecretForbidden {
				_, command, _ = strings.Cut(condition.Message, "run: kubectl ")
			}
		}
		if command == "" {
			return fmt.Errorf("the conditions are %v", vm.Status.Conditions)
		}
		return nil
	})
	const owner = "owner"
	for _, part := range []string{"admin", "edit", "view"} { // what the ClusterRole admin consists of, which no controller puts together here
		s.kubectl(t, "", "-n", closed, "create", "rolebinding", owner+"-"+part, "--clusterrole=system:aggregate-to-"+part, "--user="+owner)
	}
	want := "-n " + closed + " create rolebinding windlass-secrets --clusterrole=windlass-secret-reader --serviceaccount=" + rig.Namespace + ":only-" + name
	if command != want {
		t.Errorf("the condition says to run\n%s, want\n%s", command, want)
	}
	s.kubectl(t, "", append([]string{"--as=" + owner}, strings.Fields(command)...)...)
	s.wait(t, "-n="+closed, "virtualmachine/private", "condition=Ready")
	s.wait(t, "virtualmachine/one", "condition=Ready")
	s.wait(t, "virtualmachine/two", "condition=Ready")
	for _, retained := range []string{"one", "two"} {
		s.gone(t, &cloudnativev1alpha1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: retained}})
	}
	s.gone(t, vm)
}

func liveClusters(t *testing.T, s *stage, _ string) {
	t.Helper()
	dir := t.TempDir()
	for name, from := range map[string]string{"cluster.yml": "", "admin": s.Admin} {
		text := []byte("nodes:\n- {address: 127.0.0.1, role: [controlplane, etcd, worker]}\n")
		if from != "" {
			var err error
			text, err = os.ReadFile(from)
			must(t, err)
		}
		must(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	s.kubectl(t, "", "-n", rig.Namespace, "create", "configmap", "hosts", "--from-literal=known_hosts=none")
	s.apply(t, `{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Cluster, metadata: {name: made}, spec: {configPath: `+dir+`/cluster.yml,
		provisioner: exec, exec: {up: [cp, "`+dir+`/admin", "`+dir+`/kube_config"], remove: ["true"], kubeconfigFile: kube_config,
		env: [{name: KNOWN_HOSTS, value: "{knownhosts}"}]},
		sshAuth: {knownHostsRef: {namespace: `+rig.Namespace+`, name: hosts, key: known_hosts}},
		health: {interval: 1s, failureThreshold: 2}}}`)
	s.wait(t, "clusters.clusterprovisioner.rke.io/made", "condition=Ready")
	s.edit(t, "clusters.clusterprovisioner.rke.io/made", `{"spec":{"kubeconfigSecretRef":{"name":"moved"}}}`)
	s.wait(t, "clusters.clusterprovisioner.rke.io/made", "jsonpath={.status.kubeconfigRef.name}=moved")
	s.gone(t, &clusterprovisionerv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "made"}})
}

func liveKubeconfigs(t *testing.T, s *stage, _ string) {
	t.Helper()
	s.apply(t, `{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Cluster, metadata: {name: theirs}, spec: {configPath: /nowhere}}`)
	cluster := &clusterprovisionerv1alpha1.Cluster{}
	must(t, s.Client.Get(t.Context(), client.ObjectKey{Name: "theirs"}, cluster))
	admin, err := os.ReadFile(s.Admin)
	must(t, err)
	ref := cluster.KubeconfigSecret(rig.Namespace)
	must(t, s.Client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name, Labels: map[string]string{
			clusterprovisionerv1alpha1.ClusterUIDLabel: string(cluster.UID),
		}},
		Data: map[string][]byte{clusterprovisionerv1alpha1.KubeconfigSecretKey: admin},
	}))
	s.apply(t, `{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Kubeconfig, metadata: {name: token}, spec: {clusterRef: {name: theirs},
		type: ServiceAccountToken}}`)
	s.wait(t, "kubeconfigs.clusterprovisioner.rke.io/token", "condition=Ready")
	s.gone(t, &clusterprovisionerv1alpha1.Kubeconfig{ObjectMeta: metav1.ObjectMeta{Name: "token"}})
}

// apply applies a manifest as the administrator.
func (s *stage) apply(t *testing.T, manifest string) {
	t.Helper()
	s.kubectl(t, strings.ReplaceAll(manifest, "\t", " "), "apply", "--server-side", "-f", "-")
}

// edit changes an object as the administrator.
func (s *stage) edit(t *testing.T, object, change string) {
	t.Helper()
	s.kubectl(t, "", "patch", object, "--type=merge", "-p", change)
}

// wait waits until an object, which may not exist yet, is as asked.
func (s *stage) wait(t *testing.T, about ...string) {
	t.Helper()
	object, state := about[:len(about)-1], about[len(about)-1]
	eventually(t, func(ctx context.Context) error {
		done := s.Run(ctx, s.Kubectl, append([]string{"wait", "--for=" + state, "--timeout=20s"}, object...)...)
		if done.Code != 0 {
			return fmt.Errorf("%v: %s", about, done.Err)
		}
		return nil
	})
}

// kubectl runs kubectl as the administrator.
func (s *stage) kubectl(t *testing.T, in string, args ...string) {
	t.Helper()
	command := s.Command(t.Context(), s.Kubectl, args...)
	command.Stdin = strings.NewReader(in)
	if done := rig.Finish(command); done.Code != 0 {
		t.Fatalf("kubectl %s: %s\n%s", strings.Join(args, " "), done.Err, in)
	}
}
