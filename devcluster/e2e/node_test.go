// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// greeterImage is the image that the tests make of testdata/greeter.
const greeterImage = "greeter:1"

// realNode is a sandbox' cluster with a real node.
type realNode struct {
	s                 *sandbox
	client            kubernetes.Interface
	name, kubeconfig  string
	cluster, stateDir string
}

// realNode starts a cluster with a real node, which is called alpha where a file lists one of that name, and skips the
// test with devcluster's own sentence where this machine cannot have one.
func (s *sandbox) realNode(args ...string) *realNode {
	s.t.Helper()
	n := &realNode{s: s, name: "real"}
	flag := "--real-node"
	if slices.Contains(args, "--config") {
		n.name = "alpha"
		flag += "=" + n.name
	}
	s.needRealNode(append([]string{flag}, args...)...)
	n.cluster = s.list()[0].Name
	n.client, n.kubeconfig = s.up(args...)
	n.stateDir = filepath.Join(s.dir, "clusters", n.cluster)
	s.must("image", "import", "--name", n.cluster, "--ref", greeterImage, "--binary", greeter(s.t))
	return n
}

// needRealNode starts a cluster with a real node, and skips the test where this machine refuses one. Without arguments it
// only tries.
func (s *sandbox) needRealNode(args ...string) {
	s.t.Helper()
	try := len(args) == 0
	if try {
		args = []string{"--name", "try", "--real-node"}
	}
	s.t.Cleanup(s.clearAfterFailure)
	_, stderr, code := s.run(append([]string{"up"}, args...)...)
	if _, missing, refused := strings.Cut(stderr, "a real node needs "); refused {
		s.t.Skipf("a real node needs %s", strings.TrimSpace(missing))
	}
	if code != 0 {
		s.t.Fatalf("up ended with %d:\n%s", code, stderr)
	}
	if try {
		s.must("down", "--name", "try")
	}
}

// clearAfterFailure takes away what killing the processes would leave: cgroups. After a success nothing may be left to take.
func (s *sandbox) clearAfterFailure() {
	if !s.t.Failed() {
		return
	}
	clusters, err := os.ReadDir(filepath.Join(s.dir, "clusters"))
	if err != nil {
		s.t.Log(err)
	}
	for _, cluster := range clusters {
		// The test's own context has ended by now.
		cmd := exec.CommandContext(context.WithoutCancel(s.t.Context()), s.bin, "--dir", s.dir, "down", "--name", cluster.Name())
		if out, err := cmd.CombinedOutput(); err != nil {
			s.t.Logf("cannot clear cluster %s: %v\n%s", cluster.Name(), err, out)
		}
	}
}

// greeter builds the program, static as the image needs it.
func greeter(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "greeter")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./testdata/greeter")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cannot build greeter: %v\n%s", err, out)
	}
	return path
}

// create makes a pod that only the real node takes.
func (n *realNode) create(name string, edit func(*corev1.Pod)) {
	n.s.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeSelector:                  map[string]string{corev1.LabelHostname: n.name},
			TerminationGracePeriodSeconds: new(int64(5)),
			Containers:                    []corev1.Container{{Name: "main", Image: greeterImage}},
		},
	}
	edit(pod)
	if _, err := n.client.CoreV1().Pods("default").Create(n.s.t.Context(), pod, metav1.CreateOptions{}); err != nil {
		n.s.t.Fatal(err)
	}
}

// run creates a pod and waits until it is ready.
func (n *realNode) run(name string, edit func(*corev1.Pod)) {
	n.s.t.Helper()
	n.create(name, edit)
	n.s.eventually("pod "+name+" is ready", func() bool { return isReady(n.pod(name)) })
}

func (n *realNode) pod(name string) *corev1.Pod {
	n.s.t.Helper()
	pod, err := n.client.CoreV1().Pods("default").Get(n.s.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		n.s.t.Fatal(err)
	}
	return pod
}

// kubectl runs the binary under that name.
func (n *realNode) kubectl(args ...string) string {
	n.s.t.Helper()
	out, err := n.tryKubectl(args...)
	if err != nil {
		n.s.t.Fatal(err)
	}
	return out
}

// tryKubectl is for a kubelet that has only just come back and does not know its pods yet.
func (n *realNode) tryKubectl(args ...string) (string, error) {
	cmd := exec.CommandContext(n.s.t.Context(), n.s.bin, args...)
	cmd.Args[0] = "kubectl"
	cmd.Env = append(os.Environ(), "KUBECONFIG="+n.kubeconfig)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), nil
}

// anonymous is a client without a certificate. Who the kubelet is does not matter to it.
func (n *realNode) anonymous() *http.Client {
	return &http.Client{
		Timeout: 30 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
			DisableKeepAlives: true,
		},
	}
}

// traces are what a node leaves on the machine while it runs.
type traces struct {
	t *testing.T
	// namespace is the process namespace that everything on the node is in.
	namespace string
	cgroup    string
	// routes are the pods' addresses as the kernel's table has them.
	routes []string
}

// traces makes sure that each kind of them is there to be seen: looking for what never was proves nothing.
func (n *realNode) traces() traces {
	t := n.s.t
	t.Helper()
	inits := n.s.processesNamed("node-init")
	if len(inits) != 1 {
		t.Fatalf("%d processes are the node's first, want one", len(inits))
	}
	namespace, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(inits[0]), "ns/pid"))
	if err != nil {
		t.Fatal(err)
	}
	found := traces{t: t, namespace: namespace, cgroup: n.cgroup()}
	pods, err := n.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range pods.Items {
		if ip := pods.Items[i].Status.PodIP; ip != "" {
			found.routes = append(found.routes, kernelForm(t, ip))
		}
	}
	if len(found.groups()) == 0 {
		t.Errorf("no cgroup %q is to be seen", found.cgroup)
	}
	if len(pods.Items) > 0 && (len(found.links()) == 0 || len(found.processes()) < 4) {
		t.Errorf("of the running pods, links %v and processes %v are to be seen", found.links(), found.processes())
	}
	return found
}

// gone checks that nothing is left of a node.
func (n *realNode) gone(before traces) {
	t := n.s.t
	t.Helper()
	// What has been killed is still to be seen for a moment, until the kernel has let it go.
	n.s.eventually("the node's processes are gone", func() bool { return len(before.processes()) == 0 })
	if left := before.groups(); len(left) > 0 {
		t.Errorf("cgroups %v are left", left)
	}
	// Links go with their namespace, which the kernel takes down in the background.
	n.s.eventually("the pods' links are gone", func() bool { return len(before.links()) == 0 })
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), n.s.dir) {
		t.Errorf("mounts are left:\n%s", mounts)
	}
}

// cgroup is the name that the kubelet was given.
func (n *realNode) cgroup() string {
	n.s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(n.stateDir, "node/kubelet.yaml"))
	if err != nil {
		n.s.t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if name, ok := strings.CutPrefix(line, "cgroupRoot: /"); ok {
			return strings.TrimSpace(name)
		}
	}
	n.s.t.Fatalf("no cgroup in %s", raw)
	return ""
}

// processes are those in the node's process namespace.
func (f traces) processes() []string {
	f.t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/ns/pid")
	if err != nil {
		f.t.Fatal(err)
	}
	return slices.DeleteFunc(links, func(link string) bool {
		namespace, err := os.Readlink(link)
		if err != nil || namespace != f.namespace {
			return true
		}
		// What has ended waits for its parent to take note, which may be the machine's own first process.
		stat, err := os.ReadFile(filepath.Join(filepath.Dir(link), "../stat"))
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

// groups are the node's cgroups, of either version.
func (f traces) groups() []string {
	f.t.Helper()
	var found []string
	for _, pattern := range []string{"/sys/fs/cgroup/", "/sys/fs/cgroup/*/"} {
		groups, err := filepath.Glob(pattern + f.cgroup)
		if err != nil {
			f.t.Fatal(err)
		}
		found = append(found, groups...)
	}
	return found
}

// links are the routes that lead through the machine's ends of the pods' links.
func (f traces) links() []string {
	f.t.Helper()
	table, err := os.ReadFile("/proc/net/route")
	if err != nil {
		f.t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 1 && slices.Contains(f.routes, fields[1]) {
			found = append(found, line)
		}
	}
	return found
}

// kernelForm is an address as /proc/net/route has it: four bytes in the machine's order, which is little-endian.
func kernelForm(t *testing.T, ip string) string {
	t.Helper()
	address, err := netip.ParseAddr(ip)
	if err != nil {
		t.Fatal(err)
	}
	octets := address.As4()
	return fmt.Sprintf("%08X", binary.LittleEndian.Uint32(octets[:]))
}

// machineSettings are those that kubelets and network plugins are known to change.
func machineSettings(t *testing.T) map[string]string {
	t.Helper()
	settings := map[string]string{}
	for _, name := range []string{
		"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
		"kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes", "net/ipv4/ip_forward",
	} {
		raw, err := os.ReadFile(filepath.Join("/proc/sys", name))
		if err != nil {
			t.Fatal(err)
		}
		settings[name] = string(raw)
	}
	return settings
}
