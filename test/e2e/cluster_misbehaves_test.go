// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// quickRetry is for tools that fail before they work.
const quickRetry = "retry: {initial: 1s, max: 2s}"

// misbehaving is a manager with a scripted tool.
type misbehaving struct {
	*cluster

	manager *manager
	state   string
}

// TestToolsThatMisbehave has one manager put up with everything that a tool may do to it.
func TestToolsThatMisbehave(t *testing.T) {
	c := need(t)
	m := &misbehaving{cluster: c, state: filepath.Join(t.TempDir(), "runs")}
	m.manager = c.startManager(t, c.scriptedTool(t, m.state)...).ready()
	t.Run("one that hangs, does not hear and has a grandchild is ended with all of it", m.hangs)
	t.Run("one that prints keys prints them nowhere", m.printsKeys)
	t.Run("one that fails three times is repeated until it works", m.failsThreeTimes)
	t.Run("one that skips a machine is not believed", m.skipsAMachine)
	t.Run("a configuration that is gone is taken from the copy", m.losesItsConfiguration)
}

func (m *misbehaving) hangs(t *testing.T) {
	s := m.scriptedIn(t, "hangs", t.TempDir())
	// The grandchild is in a session of its own, and tells by what it can be found.
	s.write(t, "up.sh", `trap '' TERM
setsid sh -c 'tr "\0" " " < /proc/$$/cmdline > alive; while :; do sleep 1; done' "$PWD/grandchild" &
while :; do sleep 1; done
`)
	s.create(t, "timeouts: {up: 10s, grace: 1s}", "retry: {attempts: 1}")
	s.becomes(t, clusterprovisionerv1alpha1.ConditionProvisioned, metav1.ConditionFalse, clusterprovisionerv1alpha1.ReasonTimeout)
	s.becomes(t, status.Stalled, metav1.ConditionTrue, clusterprovisionerv1alpha1.ReasonTimeout)
	if alive := s.read(t, "alive"); !strings.Contains(alive, s.dir) {
		t.Fatalf("the grandchild is %q: this test could not see it", alive)
	}
	if left := processesNaming(t, s.dir); len(left) > 0 {
		t.Errorf("the run is over and %q are left", left)
	}
	s.describes(t, "RunFailed", "the run was stopped after 10s", "gave up after 1 attempts")
	s.called(t, "up")
	s.remove(t)
}

func (m *misbehaving) printsKeys(t *testing.T) {
	const marker = "bWFkZU9mTm90aGluZ0J1dE5vYm9keU1heVNlZUl0"
	s := m.scriptedIn(t, "prints", t.TempDir())
	s.write(t, "up.sh", `echo "INFO[0000] [ssh] -----BEGIN RSA PRIVATE KEY-----"
printf '`+marker+`\n`+marker+`\n-----END RSA PRIVATE KEY-----\n' >&2
echo 'password: `+marker+`'
echo 'FATA[0001] cannot use token=`+marker+`'
exit 1
`)
	s.create(t, "retry: {attempts: 1}")
	s.becomes(t, status.Stalled, metav1.ConditionTrue, clusterprovisionerv1alpha1.ReasonUnknown)
	s.describes(t, "RunFailed", "[redacted]")

	told := map[string]string{
		"the objects":         m.do(t, "get", "clusters.clusterprovisioner.rke.io,kubeconfigs.clusterprovisioner.rke.io", "-o", "yaml"),
		"the events":          m.do(t, "get", "events.events.k8s.io", "-A", "-o", "yaml"),
		"the ConfigMaps":      m.do(t, "get", "configmaps", "-n", namespace, "-o", "yaml"),
		"the Secrets":         m.secrets(t),
		"the manager's log":   m.manager.read(),
		"the state directory": filesIn(t, m.state),
	}
	for where, text := range told {
		if strings.Contains(text, marker) {
			t.Errorf("the key shows in %s", where)
		}
	}
	for _, where := range []string{"the objects", "the events", "the ConfigMaps", "the state directory"} {
		if !strings.Contains(told[where], "[redacted]") {
			t.Errorf("%s do not say that something was taken out: this test could not see it", where)
		}
	}
	s.remove(t)
}

// secrets returns what all Secrets of the manager's namespace hold.
func (m *misbehaving) secrets(t *testing.T) string {
	t.Helper()
	var list corev1.SecretList
	if err := m.Client.List(t.Context(), &list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i := range list.Items {
		for key, value := range list.Items[i].Data {
			text.WriteString(key + "=" + string(value) + "\n")
		}
	}
	return text.String()
}

// filesIn returns what all files below a directory hold.
func filesIn(t *testing.T, dir string) string {
	t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		text.Write(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func (m *misbehaving) failsThreeTimes(t *testing.T) {
	s := m.scriptedIn(t, "fails", t.TempDir())
	s.write(t, "up.sh", `if [ "$(wc -l < calls)" -le 3 ]; then echo "FATA[0001] Failed to pull image: connection reset"; exit 1; fi
`+upWorks)
	s.create(t, quickRetry)
	found := s.becomes(t, status.Ready, metav1.ConditionTrue, status.Ready)
	if last := found.Status.LastOperation; last.Attempt != 4 || last.Reason != "" || found.Status.NextRetryTime != nil {
		t.Errorf("the last operation is %+v, the next %v, want the fourth as the last", last, found.Status.NextRetryTime)
	}
	s.describes(t, "RunFailed", "attempt 1 failed", "attempt 2 failed", "attempt 3 failed", "Failed to pull image", "attempt 4, run")
	s.called(t, "up", "up", "up", "up")
	s.remove(t)
}

func (m *misbehaving) skipsAMachine(t *testing.T) {
	const skips = `echo 'WARN[0001] Failed to set up SSH tunneling for host [skips.invalid]: no route to host'
echo 'WARN[0001] Removing host [skips.invalid] from node lists'
`
	s := m.scriptedIn(t, "skips", t.TempDir())
	s.create(t, quickRetry)
	s.becomes(t, status.Ready, metav1.ConditionTrue, status.Ready)

	s.write(t, "up.sh", skips+upWorks)
	s.write(t, "cluster.yml", s.read(t, "cluster.yml")+"ssh_agent_auth: true\n")
	s.becomes(t, status.Ready, metav1.ConditionFalse, clusterprovisionerv1alpha1.ReasonNodesSkipped)

	s.write(t, "remove.sh", skips+removeWorks)
	s.do(t, "delete", "clusters.clusterprovisioner.rke.io", s.name, "--wait=false")
	s.becomes(t, clusterprovisionerv1alpha1.ConditionProvisioned, metav1.ConditionFalse, clusterprovisionerv1alpha1.ReasonRemoved)
	found := s.becomes(t, clusterprovisionerv1alpha1.ConditionDegraded, metav1.ConditionTrue, clusterprovisionerv1alpha1.ReasonNodesSkipped)
	if diff := cmp.Diff([]string{"skips.invalid"}, found.Status.SkippedNodes); diff != "" {
		t.Errorf("status.skippedNodes (-want +got):\n%s", diff)
	}
	s.describes(t, "NodesSkipped", "the tool could not reach skips.invalid")

	s.write(t, "remove.sh", removeWorks)
	s.remove(t)
}

func (m *misbehaving) losesItsConfiguration(t *testing.T) {
	s := m.scriptedIn(t, "loses", t.TempDir())
	s.create(t)
	s.becomes(t, status.Ready, metav1.ConditionTrue, status.Ready)
	before := s.read(t, "cluster.yml")
	s.write(t, "remove.sh", "cp \"$config\" removed.yml && cp cluster.rkestate removed.rkestate\n"+removeWorks)
	for _, name := range []string{"cluster.yml", "cluster.rkestate"} {
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.remove(t)
	s.called(t, "up", "remove")
	if got := s.read(t, "removed.yml"); got != before {
		t.Errorf("the tool removed the cluster with the configuration %q, want %q", got, before)
	}
	if got := s.read(t, "removed.rkestate"); !strings.HasPrefix(got, "state of ") {
		t.Errorf("the tool removed the cluster with the state %q", got)
	}
}
