// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package incluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/test/rig"
)

// isolated is set in a process that has a network namespace of its own.
const isolated = "WINDLASS_TEST_ISOLATED"

// isolate continues in a network namespace with nothing but a loopback interface, if the machine allows it.
func isolate() {
	if os.Getenv(isolated) != "" || exec.Command("unshare", "--net", "ip", "link", "set", "lo", "up").Run() != nil { //nolint:noctx // before any test
		return
	}
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		return
	}
	args := append([]string{"unshare", "--net", "sh", "-c", `ip link set lo up && exec "$0" "$@"`}, os.Args...)
	args[5], err = os.Executable()
	if err == nil {
		err = syscall.Exec(unshare, args, append(os.Environ(), isolated+"=1"))
	}
	fmt.Fprintln(os.Stderr, "cannot continue in a network namespace:", err)
	os.Exit(1)
}

// metadata is where clouds tell a machine its secrets. Windlass must not reach it, whatever an object names as a host.
const metadata = "169.254.169.254"

// policiesHold enforces the NetworkPolicies from now on, so that all that follows happens under them, and dials what they allow and what they
// do not. Without them everything is allowed, which is looked at first.
func (s *stage) policiesHold(t *testing.T) {
	t.Helper()
	enforcer := filepath.Join(s.Root, "bin", "kuberouter")
	if os.Getenv(isolated) == "" {
		t.Skip("needs root and unshare, to leave the packet filter of the machine alone")
	}
	if err := rig.CheckBuilt(enforcer); err != nil {
		t.Skip(err)
	}
	for _, program := range []string{"iptables", "ipset", "nsenter"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s", program)
		}
	}
	// Pods of a real node here do not reach each other, unlike those of a cluster.
	must(t, os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o600))
	s.serveMetadata(t)
	at := func(component, port string) string {
		pods, err := s.pods(t.Context(), component)
		must(t, err)
		return net.JoinHostPort(pods[0].Status.PodIP, port)
	}
	server, cloud := net.JoinHostPort(s.machine.String(), strconv.Itoa(s.port)), net.JoinHostPort(metadata, "80")
	strange := []string{at("manager", "8081"), at("gateway", "8081"), at("gateway", "8090"), cloud}
	own := []string{server, cloud}
	s.dials(t, "default", "stranger", "", strange)
	s.dials(t, rig.Namespace, "managers-labels", "{app.kubernetes.io/name: windlass, app.kubernetes.io/component: manager}", own)
	s.dials(t, rig.Namespace, "gateways-labels", "{app.kubernetes.io/name: windlass, app.kubernetes.io/component: gateway}", own)
	// The Pods count as those of Windlass, so they must not be there any more in the steps that follow.
	defer s.do(t, "delete", "pod", "-n", rig.Namespace, "managers-labels", "gateways-labels", "--force", "--grace-period=0")
	s.reach(t, "default", "stranger", strange, true, true, true, true)
	s.reach(t, rig.Namespace, "managers-labels", own, true, true)
	s.reach(t, rig.Namespace, "gateways-labels", own, true, true)

	s.enforce(t, enforcer)
	s.reach(t, "default", "stranger", strange, false, false, true, true)
	s.reach(t, rig.Namespace, "managers-labels", own, true, false)
	s.reach(t, rig.Namespace, "gateways-labels", own, true, false)
}

// enforce runs kube-router until the cluster is stopped.
func (s *stage) enforce(t *testing.T, program string) {
	t.Helper()
	var said bytes.Buffer
	command := s.Command(context.WithoutCancel(t.Context()), program, "-kubeconfig", s.Admin, "-node", node)
	command.Stdout, command.Stderr = &said, &said
	input, err := command.StdinPipe()
	must(t, err)
	must(t, command.Start())
	s.t.Cleanup(func() {
		_ = input.Close()
		if err := command.Wait(); err != nil {
			s.t.Errorf("kube-router ended with %v: %s", err, said.String())
		}
		if out, err := exec.CommandContext(context.WithoutCancel(s.t.Context()), "sh", "-c", "iptables -F && iptables -X && ipset destroy").CombinedOutput(); err != nil {
			s.t.Errorf("cannot clear the packet filter: %v: %s", err, out)
		}
	})
}

// serveMetadata listens where the cloud's metadata would be.
func (s *stage) serveMetadata(t *testing.T) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "ip", "address", "replace", metadata+"/32", "dev", "lo").CombinedOutput(); err != nil {
		t.Fatalf("cannot add the address: %v: %s", err, out)
	}
	on, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(metadata, "80"))
	must(t, err)
	t.Cleanup(func() { _ = on.Close() })
	go func() {
		for {
			from, err := on.Accept()
			if err != nil {
				return
			}
			_ = from.Close()
		}
	}()
}

// dials runs a Pod that says which addresses it reaches. Its network has a way to the metadata, as networks of clouds have.
func (s *stage) dials(t *testing.T, namespace, name, labels string, addresses []string) {
	t.Helper()
	if labels == "" {
		labels = "{}"
	}
	s.apply(t, fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s, labels: %s}
spec:
  nodeName: %s
  terminationGracePeriodSeconds: 0
  automountServiceAccountToken: false
  securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: dial
    image: dial:1
    imagePullPolicy: IfNotPresent
    command: [dial, "%s"]
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`, name, namespace, labels, node, strings.Join(addresses, `", "`)))
	pod := &corev1.Pod{}
	s.eventually(t, name+" runs", func(ctx context.Context) error {
		if err := s.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, pod); err != nil {
			return err
		}
		if !ready(pod) {
			return fmt.Errorf("its status is %+v", pod.Status)
		}
		return nil
	})
	id, _ := strings.CutPrefix(pod.Status.ContainerStatuses[0].ContainerID, "containerd://")
	network := filepath.Join(processOf(t, id, "dial"), "ns", "net")
	if out, err := exec.CommandContext(t.Context(), "nsenter", "--net="+network, "ip", "route", "add", metadata+"/32", "via", s.machine.String()).CombinedOutput(); err != nil {
		t.Fatalf("cannot add a route to %s: %v: %s", name, err, out)
	}
}

// reach waits until a Pod reaches exactly what it should of the addresses that it dials.
func (s *stage) reach(t *testing.T, namespace, name string, addresses []string, reached ...bool) {
	t.Helper()
	var want []string
	for i, address := range addresses {
		want = append(want, fmt.Sprintf("%s=%t", address, reached[i]))
	}
	s.eventually(t, name+" reaches "+strings.Join(want, " "), func(ctx context.Context) error {
		log := s.Run(ctx, s.Kubectl, "logs", "-n", namespace, name, "--tail=1")
		if got := strings.TrimSpace(log.Out); got != strings.Join(want, " ") {
			return errors.New("it says " + got + log.Err)
		}
		return nil
	})
}
