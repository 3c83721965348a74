// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// provisioned starts an API server that plays the provisioned cluster. That of the package cannot: other tests would see its nodes.
func provisioned(t *testing.T) (*rest.Config, client.Client) {
	t.Helper()
	environment := &envtest.Environment{
		BinaryAssetsDirectory:   cmp.Or(os.Getenv("KUBEBUILDER_ASSETS"), filepath.Join(testkit.Root(), "bin", "k8s")),
		ControlPlaneStopTimeout: 20 * time.Second, ControlPlaneStartTimeout: 2 * time.Minute,
	}
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	live, err := client.New(config, client.Options{Scheme: kube.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	return config, live
}

// kubelet creates a node with what its kubelet reports, or changes what it has reported.
func kubelet(t *testing.T, c client.Client, of *corev1.Node, ready corev1.ConditionStatus, reason string, beat int) {
	t.Helper()
	live := &corev1.Node{}
	err := c.Get(t.Context(), client.ObjectKeyFromObject(of), live)
	if apierrors.IsNotFound(err) {
		live = of.DeepCopy()
		err = c.Create(t.Context(), live)
	}
	if err != nil {
		t.Fatal(err)
	}
	live.Status = corev1.NodeStatus{
		Addresses: of.Status.Addresses, NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.37.1"},
		Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: ready, Reason: reason, Message: fmt.Sprintf("beat %d", beat),
			LastHeartbeatTime: metav1.NewTime(noon.Add(time.Duration(beat) * time.Minute)), LastTransitionTime: metav1.NewTime(noon),
		}},
	}
	if err := c.Status().Update(t.Context(), live); err != nil {
		t.Fatal(err)
	}
}

// TestNodesOfACluster follows the nodes of a real API server in the status: from before there is one, over those that are not ready, to the next
// manager.
func TestNodesOfACluster(t *testing.T) {
	s := newStage(t)
	config, live := provisioned(t)
	raw, err := clientcmd.Write(kubeconfigOf(config))
	if err != nil {
		t.Fatal(err)
	}
	s.file("source", string(raw))
	s.file("cluster.yml", "nodes:\n"+
		"- {address: 10.0.0.1, hostname_override: control-01, role: [etcd, controlplane]}\n"+
		"- {address: 10.0.0.2, hostname_override: worker-01, role: [worker]}\n"+
		"- {address: 10.0.0.3, hostname_override: worker-02, role: [worker]}\n"+
		"- {address: 10.0.0.4, hostname_override: late, role: [worker]}\n")
	control := build.Node("control-01").Role("controlplane").Role("etcd").Address("10.0.0.1").Obj()
	worker := build.Node("worker-01").Role("worker").Address("10.0.0.2").Cordoned().Obj()
	broken := build.Node("worker-02").Role("worker").Address("10.0.0.3").Obj()
	kubelet(t, live, control, corev1.ConditionTrue, "KubeletReady", 0)
	kubelet(t, live, worker, corev1.ConditionTrue, "KubeletReady", 0)
	kubelet(t, live, broken, corev1.ConditionUnknown, "NodeStatusUnknown", 0)

	s.create()
	s.until("the machines are listed", func() bool { return s.cluster.Status.Nodes != nil })
	for _, item := range s.cluster.Status.Nodes.Items {
		if item.Ready != metav1.ConditionUnknown || item.Reason != clusterprovisionerv1alpha1.NodeNotProbed {
			t.Errorf("before the cluster is there, %s is %s because of %q", item.Name, item.Ready, item.Reason)
		}
	}
	since, etcd, plain := new(metav1.NewTime(noon)), []string{"controlplane", "etcd"}, []string{"worker"}
	want := &clusterprovisionerv1alpha1.ClusterNodes{Desired: 4, Ready: 2, Total: 4, Items: items{
		{Name: "late", Address: "10.0.0.4", Roles: plain, Ready: metav1.ConditionUnknown, Reason: "NotJoined"},
		{Name: "worker-02", Address: "10.0.0.3", Roles: plain, Ready: metav1.ConditionUnknown, Reason: "NodeStatusUnknown", Version: "v1.37.1", Since: since},
		{Name: "control-01", Address: "10.0.0.1", Roles: etcd, Ready: metav1.ConditionTrue, Version: "v1.37.1", Since: since},
		{Name: "worker-01", Address: "10.0.0.2", Roles: plain, Ready: metav1.ConditionTrue, Unschedulable: true, Version: "v1.37.1", Since: since},
	}}
	s.lists("the nodes", want)
	s.until("Ready names the node that is not", func() bool {
		return strings.HasSuffix(testkit.Condition(s.cluster, status.Ready), " answers at "+config.Host+", and 2 of its nodes are Ready. Not Ready: worker-02")
	})

	// Heartbeats are no news: until there is some, nothing is written, and then once.
	s.settled()
	before := s.Writes()
	kubelet(t, live, control, corev1.ConditionTrue, "KubeletReady", 1)
	kubelet(t, live, broken, corev1.ConditionUnknown, "NodeStatusUnknown", 2)
	kubelet(t, live, worker, corev1.ConditionFalse, "KubeletNotReady", 3)
	want.Ready = 1
	want.Items[3].Ready, want.Items[3].Reason = metav1.ConditionFalse, "KubeletNotReady"
	want.Items = items{want.Items[0], want.Items[3], want.Items[1], want.Items[2]}
	s.lists("a node that is not ready any more", want)
	s.settled()
	if wrote := s.Writes() - before; wrote != 1 {
		t.Errorf("news of one node were written %d times", wrote)
	}

	// The next manager has not asked the cluster yet, and takes over what this one has found.
	before = s.Writes()
	s.restart()
	s.pass()
	s.pass()
	if wrote := s.Writes() - before; wrote != 0 {
		t.Errorf("the next manager has written %d times", wrote)
	}
	s.lists("what the manager before has found", want)

	s.delete()
	s.pass()
	s.pass()
	for _, item := range s.cluster.Status.Nodes.Items {
		if item.Reason != clusterprovisionerv1alpha1.NodeNotProbed {
			t.Errorf("while the cluster is removed, %s is %s because of %q", item.Name, item.Ready, item.Reason)
		}
	}
	s.gone()
}

// lists runs passes until the status lists the nodes as wanted.
func (s *stage) lists(what string, want *clusterprovisionerv1alpha1.ClusterNodes) {
	s.t.Helper()
	diff := ""
	s.t.Cleanup(func() {
		if s.t.Failed() && diff != "" {
			s.t.Logf("%s (-want +got):\n%s", what, diff)
		}
	})
	s.until(what+" are listed", func() bool { diff = gocmp.Diff(want, s.cluster.Status.Nodes); return diff == "" })
}

// TestHeartbeatsWakeNobody has a node whose heartbeat is another one at each probe.
func TestHeartbeatsWakeNobody(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	var broken atomic.Bool
	server := httptest.NewServer(pages(t, 1, func(int) *corev1.Node {
		beat := asked.Add(1)
		condition := corev1.NodeCondition{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Message: fmt.Sprintf("beat %d", beat),
			LastHeartbeatTime: metav1.NewTime(noon.Add(time.Duration(beat) * time.Minute)), LastTransitionTime: metav1.NewTime(noon),
		}
		if broken.Load() {
			condition.Status, condition.Reason = corev1.ConditionFalse, "KubeletNotReady"
		}
		return build.Node("a").With(func(n *corev1.Node) { n.Status.Conditions = []corev1.NodeCondition{condition} }).Obj()
	}))
	defer server.Close()
	prober := NewProber()
	prober.after = func(time.Duration) <-chan time.Time { return time.After(time.Millisecond) }
	stop := testkit.Background(t, prober.Start)
	defer stop()
	raw, err := clientcmd.Write(kubeconfigOf(&rest.Config{Host: server.URL}))
	if err != nil {
		t.Fatal(err)
	}
	cluster := build.Cluster("one").UID("u").Obj()
	if err := prober.Watch(cluster, raw); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "it was probed many times", func() bool { return asked.Load() > 20 })
	if woken := len(prober.changed); woken != 1 {
		t.Errorf("the first look and heartbeats have woken the controller %d times", woken)
	}
	broken.Store(true)
	want := node{name: "a", ready: metav1.ConditionFalse, reason: "KubeletNotReady", since: noon.Unix()}
	testkit.Eventually(t, "the node is not ready", func() bool {
		found := prober.healthOf("u").nodes
		return len(found) == 1 && found[0] == want
	})
	testkit.Eventually(t, "the controller is woken", func() bool { return len(prober.changed) == 2 })
}

// pages plays an API server that has that many nodes, and says of each what it is told to.
func pages(t *testing.T, count int, of func(i int) *corev1.Node) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/version", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"gitVersion": "v1.37.1" + strings.Repeat("\x1b", 1000)})
	})
	mux.HandleFunc("/api/v1/nodes", func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		next := ""
		if from+limit < count {
			next = strconv.Itoa(from + limit)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"kind": "NodeList", "apiVersion": "v1", "metadata": {"continue": %q}, "items": [`, next)
		for i := from; i < count && i < from+limit; i++ {
			if i > from {
				_, _ = fmt.Fprint(w, ",")
			}
			if err := json.NewEncoder(w).Encode(of(i)); err != nil {
				return // the client reads no further
			}
		}
		_, _ = fmt.Fprint(w, "]}")
	})
	return mux
}

// TestAttackAClusterTellsOfAbsurdNodes is about whoever answers at the address of a kubeconfig, and about kubelets, which write their nodes. What they say
// must not fill the memory or the status, control a terminal, or keep the status from being written.
func TestAttackAClusterTellsOfAbsurdNodes(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for name, test := range map[string]struct {
		count int
		of    func(i int) *corev1.Node
		// total is how many nodes and machines are known. There is one machine. Of the absurd nodes every second has a name, and others share
		// one; four are larger than any that etcd takes.
		total int32
		// said is in the message of Ready.
		said string
	}{
		"5,000 nodes of all kinds of absurdity": {5000, absurd(long), 1 + 2500 + 1 - 4, " Not Ready: "},
		"5,000 nodes whose reasons have 1 MB": {5000, func(i int) *corev1.Node {
			return build.Node(fmt.Sprintf("n-%d", i)).With(func(n *corev1.Node) {
				n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: long}}
			}).Obj()
		}, 1, "longer than the limit of 32 MiB"},
		"nodes without end": {1 << 30, func(i int) *corev1.Node { return build.Node(fmt.Sprintf("n-%d", i)).Obj() }, 1, "It does not list its nodes: there are too many of them"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(pages(t, test.count, test.of))
			t.Cleanup(server.Close)
			s := newStage(t)
			raw, err := clientcmd.Write(kubeconfigOf(&rest.Config{Host: server.URL}))
			if err != nil {
				t.Fatal(err)
			}
			s.file("source", string(raw))
			s.create(func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.Health.Interval.Duration = time.Minute })
			s.becomes(clusterprovisionerv1alpha1.ConditionHealthy, "True Answering")
			s.until("Ready tells of the nodes", func() bool {
				ready := apimeta.FindStatusCondition(s.cluster.Status.Conditions, status.Ready)
				return ready != nil && strings.Contains(ready.Message, test.said)
			})
			s.settled()
			nodes := s.cluster.Status.Nodes
			if nodes.Total != test.total || len(nodes.Items) != min(int(test.total), maxItems) {
				t.Errorf("%d nodes are known, and %d listed, want %d", nodes.Total, len(nodes.Items), test.total)
			}
			whole, err := json.Marshal(s.cluster.Status)
			if err != nil || len(whole) > 192<<10 || strings.Contains(string(whole), `\u001b`) {
				t.Errorf("the status has %d bytes, %v", len(whole), err)
			}
			s.delete()
			s.gone()
		})
	}
}

// absurd returns nodes of which every second has a name that can be one. The others are bad in ten ways.
func absurd(long string) func(i int) *corev1.Node {
	return func(i int) *corev1.Node {
		name := fmt.Sprintf("n-%04d.%s", i, strings.Repeat("y", 240))
		size := long[:1<<10]
		if i%1250 < 2 {
			size = long
		}
		switch i % 10 {
		case 0:
			name = "N-" + size
		case 2:
			name = ""
		case 4:
			name = "twice"
		case 6:
			name = "../../" + strconv.Itoa(i)
		case 8:
			name = "a\x1b[2J\u202e" + strconv.Itoa(i)
		}
		return build.Node(name).With(func(n *corev1.Node) {
			for role := range 40 {
				n.Labels[fmt.Sprintf("node-role.kubernetes.io/%s-%03d", long[:59], role)] = ""
			}
			n.Labels["node-role.kubernetes.io/"+size], n.Labels["kubernetes.io/role"] = "", "a,b\x1b"
			n.Status.NodeInfo.KubeletVersion = size + "\x1b"
			n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "fe80::1%" + size}, {Type: corev1.NodeExternalIP, Address: "\x1b"}}
			n.Status.Conditions = []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: []corev1.ConditionStatus{"", "False", "Maybe\x1b"}[i%3], Reason: []string{size, "NotProbed", "a\x1b", long[:maxReason]}[i%4],
				Message: size, LastTransitionTime: metav1.NewTime(time.Date(i%2*9999, 12, 31, 0, 0, 0, 0, time.UTC)),
			}}
		}).Obj()
	}
}

func TestReadPage(t *testing.T) {
	t.Parallel()
	const good = `{"metadata": {"name": "a"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}`
	page := func(items string) string {
		return `{"apiVersion": "v1", "items": [` + items + `], "other": {"items": []}, "metadata": {"continue": "more"}, "kind": "NodeList"}`
	}
	for name, test := range map[string]struct {
		answer string
		want   []node
		// refused is the error; empty where the answer is read.
		refused string
	}{
		"a node":                             {answer: page(good), want: []node{{name: "a", ready: "True"}}},
		"no nodes":                           {answer: page("")},
		"a quantity that cannot be read":     {answer: page(`{"metadata": {"name": "b"}, "status": {"capacity": {"cpu": "x"}}}, ` + good), want: []node{{name: "a", ready: "True"}}},
		"a time that cannot be read":         {answer: page(`{"metadata": {"name": "b", "creationTimestamp": "-001"}}, ` + good), want: []node{{name: "a", ready: "True"}}},
		"items that are not nodes":           {answer: page(`[[]], "b", null, ` + good), want: []node{{name: "a", ready: "True"}}},
		"a node that is larger than in etcd": {answer: page(`{"metadata": {"name": "b"}, "spec": {"podCIDR": "` + strings.Repeat("x", maxNode) + `"}}, ` + good), want: []node{{name: "a", ready: "True"}}},
		"ten million nodes in 30 MB":         {answer: page(strings.Repeat("{},", 10_000_000) + "{}"), refused: errManyNodes.Error()},
		"another kind":                       {answer: `{"kind": "PodList", "apiVersion": "v1", "items": []}`, refused: errNoList.Error()},
		"no kind":                            {answer: `{"items": []}`, refused: errNoList.Error()},
		"items that are no list":             {answer: `{"kind": "NodeList", "items": {}}`, refused: errNoList.Error()},
		"a list and nothing else":            {answer: `[]`, refused: errNoList.Error()},
		"nothing":                            {refused: "EOF"},
		"a half":                             {answer: page(good)[:len(page(good))-1], refused: "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, next, err := readPage(strings.NewReader(test.answer))
			if (err != nil || test.refused != "") && (err == nil || err.Error() != test.refused) {
				t.Fatalf("the error is %v, want %q", err, test.refused)
			}
			if diff := gocmp.Diff(test.want, got, gocmp.AllowUnexported(node{})); diff != "" || (next == "more") != (test.refused == "") {
				t.Errorf("the next page is %q, and the nodes are not as wanted (-want +got):\n%s", next, diff)
			}
		})
	}
}
