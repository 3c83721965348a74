// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestAClusterComesUpAndIsRemoved(t *testing.T) {
	s := newStage(t)
	s.create()
	s.ready()
	s.settled()
	if got := s.calls(); got != "1 up" {
		t.Errorf("the tool was called for %q", got)
	}
	written := s.cluster.Status
	if written.KubernetesVersion == "" || s.cluster.Annotations[clusterprovisionerv1alpha1.VersionAnnotation] != written.KubernetesVersion {
		t.Errorf("the version is %q, the annotation %v", written.KubernetesVersion, s.cluster.Annotations)
	}
	if written.Endpoint != s.Config.Host || written.Nodes.Desired != 1 || written.LastOperation.Attempt != 1 {
		t.Errorf("the status is %+v", written)
	}
	if !strings.HasPrefix(written.AppliedConfig, "# "+written.AppliedConfigHash+"\n") {
		t.Errorf("the applied configuration is\n%s", written.AppliedConfig)
	}
	secret := s.secret(clusterprovisionerv1alpha1.KubeconfigSecretSuffix)
	if _, err := kube.Target(secret.Data["value"]); err != nil || secret.Labels["cluster.x-k8s.io/cluster-name"] != s.cluster.Name {
		t.Errorf("the kubeconfig is not usable: %v, labels %v", err, secret.Labels)
	}
	owned := &clusterprovisionerv1alpha1.Kubeconfig{ObjectMeta: metav1.ObjectMeta{Name: s.cluster.Name}}
	if !s.Get(t, owned) || owned.Spec.ConfigPath != filepath.Join(s.dir, "kube_config_cluster.yml") {
		t.Errorf("the Kubeconfig is %+v", owned.Spec)
	}
	if ref := owned.OwnerReferences[0]; ref.APIVersion != "clusterprovisioner.rke.io/v1alpha1" || !*ref.Controller {
		t.Errorf("its owner is %+v", ref)
	}

	s.delete()
	s.gone()
	if got := s.calls(); got != "1 up, 1 remove" {
		t.Errorf("the tool was called for %q", got)
	}
}

// TestALongNameHoldsTheKubeconfigBack is about names that the value of a label has no room for: the machines were there, and nothing else came of the Cluster.
func TestALongNameHoldsTheKubeconfigBack(t *testing.T) {
	s := newStage(t)
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.GenerateName, c.Name = "", strings.Repeat("long-", 13)+s.namespace
	})
	s.ready()
	secret := s.secret(clusterprovisionerv1alpha1.KubeconfigSecretSuffix)
	if got := secret.Labels["cluster.x-k8s.io/cluster-name"]; got != kube.LabelValue(s.cluster.Name) || len(got) != 63 {
		t.Errorf("the label is %q", got)
	}
}

// TestAChangedFileIsAppliedOnce is the article's promise, and its first defect: rke up ran at least twice.
func TestAChangedFileIsAppliedOnce(t *testing.T) {
	s := newStage(t)
	s.create()
	s.ready()
	s.file("cluster.yml", "# only a comment\n"+configText)
	s.settled()
	s.file("cluster.yml", configText+"- {address: 127.0.0.2, role: [worker]}\n")
	ready := s.answers()
	s.until("the change is applied", func() bool { return s.calls() == "2 up" && s.is(status.Ready, ready) })
	s.settled()
	if s.calls() != "2 up" || s.cluster.Status.Nodes.Desired != 2 {
		t.Errorf("calls %q, nodes %+v", s.calls(), s.cluster.Status.Nodes)
	}
	if got := string(s.secret(clusterprovisionerv1alpha1.StateSecretSuffix).Data["config"]); !strings.Contains(got, "127.0.0.2") {
		t.Errorf("the copy of the configuration is\n%s", got)
	}
}

func TestARestartAtAnyMomentStartsNothingTwice(t *testing.T) {
	s := newStage(t)
	s.create()
	ready := s.answers()
	for passes := range 12 {
		s.restart()
		if s.pass(); s.is(status.Ready, ready) && passes > 8 {
			break
		}
		// A status that was lost is as if the manager had died before it wrote it.
		if passes == 2 || passes == 5 {
			s.forgetStatus()
		}
	}
	s.ready()
	s.forgetStatus()
	s.restart()
	s.ready()
	if got := s.calls(); got != "1 up" {
		t.Errorf("the tool was called for %q", got)
	}
}

// forgetStatus empties the status.
func (s *stage) forgetStatus() {
	s.t.Helper()
	s.Get(s.t, s.cluster)
	s.cluster.Status = clusterprovisionerv1alpha1.ClusterStatus{}
	if err := s.Live.Status().Update(s.t.Context(), s.cluster); err != nil {
		s.t.Fatal(err)
	}
}

func TestARunThatFailsIsRepeatedWithPauses(t *testing.T) {
	s := newStage(t)
	const said = "FATA[0002] Failed to pull image: can't pull Docker image x"
	s.file("up.fails", "Failed to pull image: can't pull Docker image x\nFailed to pull image: can't pull Docker image y\n")
	s.create(quick)
	s.becomes(status.Ready, "False ImagePull: attempt 1 failed: "+said)
	s.becomes(status.Reconciling, "True Retrying: waiting for attempt 2 after ImagePull: "+said)
	if got := string(s.secret(clusterprovisionerv1alpha1.StateSecretSuffix).Data["state.cluster.rkestate"]); got == "" {
		t.Error("the state of a failed run is not kept")
	}
	s.settled()
	if s.calls() != "1 up" || s.cluster.Status.NextRetryTime == nil {
		t.Errorf("calls %q, next retry %v", s.calls(), s.cluster.Status.NextRetryTime)
	}
	s.repeated()
	if got := s.calls(); got != "3 up" {
		t.Errorf("the tool was called for %q", got)
	}
	log := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.cluster.Name + "-log"}}
	if !s.Get(t, log) || !strings.Contains(log.Data["log"], "up begins") {
		t.Errorf("the log is %q", log.Data["log"])
	}
	var kept []string
	for _, run := range provision.DecodeHistory(log.Data) {
		kept = append(kept, fmt.Sprintf("%s %s %t", run.Phase, run.Reason, strings.Contains(run.Log, "up begins")))
	}
	if diff := cmp.Diff([]string{"Succeeded  true", "Failed ImagePull true", "Failed ImagePull true"}, kept); diff != "" {
		t.Errorf("the runs that are kept (-want +got):\n%s", diff)
	}
}

func TestWhatCannotHealByItselfWaitsForAChange(t *testing.T) {
	s := newStage(t)
	s.file("up.fails", "ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey]\n")
	s.create(quick)
	s.becomes(status.Stalled, "True SSHAuth: FATA[0002] ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey]")
	s.later()
	s.settled()
	s.edit(annotate(clusterprovisionerv1alpha1.RetryAnnotation, "1"))
	s.ready()
	if got := s.calls(); got != "2 up" {
		t.Errorf("the tool was called for %q", got)
	}
}

func TestAttemptsAreBounded(t *testing.T) {
	s := newStage(t)
	s.file("up.fails", strings.Repeat("no known words\n", 9))
	s.create(quick)
	s.until("it gives up", func() bool {
		s.later()
		return s.is(status.Stalled, "True Unknown: gave up after 4 attempts: FATA[0002] no known words")
	})
	if got := s.calls(); got != "4 up" {
		t.Errorf("the tool was called for %q", got)
	}
}

func TestAFailedChangeDegradesAClusterThatExists(t *testing.T) {
	s := newStage(t)
	s.create(quick)
	s.ready()
	s.file("up.fails", "etcd cluster is unhealthy\n")
	s.file("cluster.yml", configText+"ssh_agent_auth: true\n")
	s.becomes(clusterprovisionerv1alpha1.ConditionDegraded, "True EtcdUnhealthy: attempt 1 failed: FATA[0002] etcd cluster is unhealthy")
	if !s.is(clusterprovisionerv1alpha1.ConditionProvisioned, "True Applied") || !s.is(clusterprovisionerv1alpha1.ConditionHealthy, "True Answering") {
		t.Errorf("conditions are %v", s.cluster.Status.Conditions)
	}
}

func TestATimeoutEndsARunAndKeepsItsState(t *testing.T) {
	s := newStage(t)
	s.file("up.hangs", "")
	s.create(quick, func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.Timeouts.Up = metav1.Duration{Duration: 10 * time.Second} // the tool has to be listening by then
	})
	s.becomes(status.Ready, "False Timeout: attempt 1 failed: the run was stopped after 10s: INFO[0001] ["+filepath.Join(s.dir, "cluster.yml")+"] up begins")
	if got := s.secret(clusterprovisionerv1alpha1.StateSecretSuffix).Data["state.cluster.rkestate"]; len(got) == 0 {
		t.Error("what the tool saved in time is lost")
	}
}

func TestAKilledSupervisorIsInterruptedAndRepeated(t *testing.T) {
	s := newStage(t)
	s.file("up.hangs", "")
	s.create(quick)
	s.until("the tool runs", func() bool { return s.calls() == "1 up" })
	s.becomes(status.Reconciling, "True Applying: waiting for the tool to apply the configuration")
	s.killSupervisor()
	s.remove("up.hangs")
	s.becomes(status.Ready, "False Interrupted: attempt 1 failed: the run ended without a result: its supervisor was killed, or the machine restarted")
	s.repeated()
}

// killSupervisor kills the processes of the run, as a restart of the machine would.
func (s *stage) killSupervisor() {
	s.t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, path := range files {
		raw, _ := os.ReadFile(path)
		if args := strings.Split(string(raw), "\x00"); len(args) > 2 && args[1] == "supervise" && strings.HasSuffix(args[2], string(s.cluster.UID)) {
			var pid int
			for _, digit := range filepath.Base(filepath.Dir(path)) {
				pid = pid*10 + int(digit-'0')
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}

func TestAClusterThatIsDeletedWhileItComesUp(t *testing.T) {
	s := newStage(t)
	s.file("up.hangs", "")
	s.create()
	s.until("the tool runs", func() bool { return s.calls() == "1 up" })
	s.delete()
	s.gone()
	if got := s.calls(); got != "1 up, 1 remove" {
		t.Errorf("the tool was called for %q", got)
	}
}

func TestARemovalIsRepeatedUntilItSucceeds(t *testing.T) {
	s := newStage(t)
	s.create(quick)
	s.ready()
	s.file("remove.fails", strings.Repeat("nobody knows why\n", 6))
	s.delete()
	s.until("five removals have failed", func() bool { s.later(); return s.calls() == "1 up, 5 remove" })
	s.until("it is gone", func() bool { s.later(); return !s.Get(t, s.cluster) })
}

func TestARemovalThatSkippedAMachineIsNotBelieved(t *testing.T) {
	s := newStage(t)
	s.create(quick)
	s.ready()
	s.file("remove.skips", "127.0.0.9")
	s.delete()
	s.becomes(clusterprovisionerv1alpha1.ConditionDegraded, "True NodesSkipped: the tool could not reach 127.0.0.9, and what runs there may still run")
	if !slices.Equal(s.cluster.Status.SkippedNodes, []string{"127.0.0.9"}) {
		t.Errorf("skipped are %v", s.cluster.Status.SkippedNodes)
	}
	s.edit(annotate(clusterprovisionerv1alpha1.AcceptSkippedAnnotation, "true"))
	s.gone()
}

func TestAMachineThatWasSkippedIsTriedAgainWhenAsked(t *testing.T) {
	s := newStage(t)
	s.file("up.skips", "127.0.0.1")
	s.create(quick)
	s.becomes(clusterprovisionerv1alpha1.ConditionDegraded, "True NodesSkipped: the tool could not reach 127.0.0.1, and what runs there may still run")
	s.settled()
	s.file("up.fails", "etcd cluster is unhealthy\n")
	s.edit(annotate(clusterprovisionerv1alpha1.RetryAnnotation, "1"))
	s.becomes(status.Reconciling, "True Retrying: waiting for attempt 2 after EtcdUnhealthy: FATA[0002] etcd cluster is unhealthy")
	s.remove("up.skips")
	s.until("nothing is wrong any more", func() bool { s.later(); return s.is(clusterprovisionerv1alpha1.ConditionDegraded, "False NotDegraded") })
	s.later()
	s.settled()
	if got := s.calls(); got != "3 up" {
		t.Errorf("the tool was called for %q", got)
	}
}

func TestACopyOfTheConfigurationRemovesTheCluster(t *testing.T) {
	s := newStage(t)
	s.create()
	s.ready()
	s.remove("cluster.yml")
	s.becomes(status.Stalled, s.notFound())
	s.delete()
	s.gone()
	if got := s.calls(); got != "1 up, 1 remove" {
		t.Errorf("the tool was called for %q", got)
	}
}

func TestAnOrphanIsLetGoAndTheClusterStays(t *testing.T) {
	s := newStage(t)
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.DeletionPolicy = clusterprovisionerv1alpha1.DeletionOrphan
	})
	s.ready()
	s.delete()
	s.gone()
	if got := s.calls(); got != "1 up" {
		t.Errorf("the tool was called for %q", got)
	}
}

// TestAnOrphanWhoseRemovalHasBegunLosesItsMachines is about a Cluster that was deleted by mistake: to set Orphan did not stop the tool, which removed what was
// left.
func TestAnOrphanWhoseRemovalHasBegunLosesItsMachines(t *testing.T) {
	s := newStage(t)
	s.create()
	s.ready()
	s.file("remove.hangs", "")
	s.delete()
	s.until("the tool removes", func() bool { return s.calls() == "1 up, 1 remove" })
	s.edit(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.DeletionPolicy = clusterprovisionerv1alpha1.DeletionOrphan
	})
	s.gone() // and so the tool was told to stop: it would hang for ever
}

func TestWhatWasNeverProvisionedIsLetGo(t *testing.T) {
	s := newStage(t)
	s.remove("cluster.yml")
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Finalizers = []string{clusterprovisionerv1alpha1.LegacyFinalizer}
	})
	s.becomes(status.Stalled, s.notFound())
	s.delete()
	s.gone()
	if got := s.calls(); got != "" {
		t.Errorf("the tool was called for %q", got)
	}
}

func TestAManualChangeWaitsForItsApproval(t *testing.T) {
	s := newStage(t)
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.Approval = clusterprovisionerv1alpha1.ApprovalManual
	})
	const waiting = "WaitingForApproval: waiting for the annotation clusterprovisioner.rke.io/approve="
	s.becomes(status.Ready, "False "+waiting+"plan-…")
	first := s.cluster.Status.Plan.ID
	if want := "False " + waiting + first; !s.is(status.Ready, want) {
		t.Errorf("Ready is %q, want %q", testkit.Condition(s.cluster, status.Ready), want)
	}
	s.edit(annotate(clusterprovisionerv1alpha1.ApproveAnnotation, first))
	s.ready()
	s.file("cluster.yml", "nodes:\n- {address: 127.0.0.3, role: [worker]}\n")
	s.becomes(status.Reconciling, "True "+waiting+"plan-…")
	plan := s.cluster.Status.Plan
	if want := "True " + waiting + plan.ID; plan.ID == first || !s.is(status.Reconciling, want) {
		t.Errorf("Reconciling is %q, want %q; the first plan was %s", testkit.Condition(s.cluster, status.Reconciling), want, first)
	}
	want := "node 127.0.0.3: added (worker)\nnode 127.0.0.1: removed (controlplane, etcd, worker)"
	if plan.Summary != want || !plan.Destructive {
		t.Errorf("the plan is %+v, want %q", plan, want)
	}
	s.settled()
	s.edit(annotate(clusterprovisionerv1alpha1.ApproveAnnotation, plan.ID))
	s.until("the change is applied", func() bool { return s.calls() == "2 up" && s.cluster.Status.Plan == nil })
}

func TestSecretsInPlainSightAreRefused(t *testing.T) {
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\nabcdef\n-----END OPENSSH PRIVATE KEY-----\n"
	config := "nodes:\n- address: 127.0.0.1\n  role: [worker]\n  ssh_key: |\n    " + strings.ReplaceAll(key, "\n", "\n    ") + "\n"
	s := newStage(t)
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.ConfigPath, c.Spec.Config = "", &clusterprovisionerv1alpha1.ConfigSource{Inline: config}
	})
	s.becomes(status.Stalled, "True SecretInPlainSight: nodes[0].ssh_key of the configuration is a secret, and anyone who can read the Cluster or the "+
		"ConfigMap can read it. Put the configuration into a Secret and name that in spec.config.secretRef")

	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "config"}, StringData: map[string]string{"cluster.yml": config},
	}
	s.Create(t, secret)
	s.edit(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.Config = &clusterprovisionerv1alpha1.ConfigSource{SecretRef: &clusterprovisionerv1alpha1.KeyReference{
			Namespace: s.namespace, Name: "config", Key: "cluster.yml",
		}}
	})
	s.becomes(clusterprovisionerv1alpha1.ConditionProvisioned, "True Applied")
	if strings.Contains(s.cluster.Status.AppliedConfig, "abcdef") || !strings.Contains(s.cluster.Status.AppliedConfig, "[redacted]") {
		t.Errorf("the applied configuration is\n%s", s.cluster.Status.AppliedConfig)
	}
	s.delete()
	s.gone()
}

func TestAPathOutsideOfTheRootIsRefused(t *testing.T) {
	s := newStage(t)
	outside := filepath.Join(t.TempDir(), "cluster.yml")
	if err := os.WriteFile(outside, []byte(configText), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(s.dir, "link.yml")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.ConfigPath = link })
	s.becomes(status.Stalled, s.outside(link))
}

func TestAMissingToolIsACondition(t *testing.T) {
	const missing = `True BinaryMissing: tool not found: exec: "no-such-tool": executable file not found in $PATH`
	s := newStage(t)
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.Exec.Up[0] = "no-such-tool" })
	s.becomes(status.Stalled, missing)
	s.delete()
	s.gone()
	if got := s.calls(); got != "" {
		t.Errorf("there was nothing to remove, and the tool was called for %q", got)
	}

	s.create()
	s.ready()
	s.edit(func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.Exec.Remove[0] = "no-such-tool" })
	s.delete()
	s.becomes(status.Stalled, missing+orphanHint)
	s.edit(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.DeletionPolicy = clusterprovisionerv1alpha1.DeletionOrphan
	})
	s.gone()
}

func TestAForeignSecretIsLeftAlone(t *testing.T) {
	s := newStage(t)
	foreign := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "taken"}, StringData: map[string]string{"value": "mine"},
	}
	s.Create(t, foreign)
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.KubeconfigSecretRef = &corev1.SecretReference{Namespace: s.namespace, Name: "taken"}
	})
	s.becomes(clusterprovisionerv1alpha1.ConditionProvisioned, "True Applied")
	if !s.Get(t, foreign) || string(foreign.Data["value"]) != "mine" {
		t.Errorf("the Secret holds %q", foreign.Data["value"])
	}
}

func TestAKubeconfigThatRunsAProgramIsRefused(t *testing.T) {
	s := newStage(t)
	ran := s.program()
	s.create()
	s.becomes(status.Ready, runsProgram)
	s.settled()
	if s.cluster.Status.KubeconfigRef != nil {
		t.Errorf("the kubeconfig is in %v", s.cluster.Status.KubeconfigRef)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.cluster.Name + clusterprovisionerv1alpha1.KubeconfigSecretSuffix}}
	if s.Get(t, secret) {
		t.Errorf("the Secret holds %q", secret.Data)
	}
	if _, err := os.Stat(ran); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the program has run: %v", err)
	}
}

// runsProgram is what Ready says of the kubeconfig that program writes.
const runsProgram = `False KubeconfigInvalid: cannot use user "u" of the kubeconfig: it runs a program`

// program lets the tool write a kubeconfig that runs a program, which leaves the file that program returns.
func (s *stage) program() (ran string) {
	s.t.Helper()
	ran = filepath.Join(s.dir, "ran")
	config := kubeconfigOf(s.Config)
	config.AuthInfos["u"].Exec = &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", Command: "touch", Args: []string{ran}, InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
	}
	raw, err := clientcmd.Write(config)
	if err != nil {
		s.t.Fatal(err)
	}
	s.file("source", string(raw))
	return ran
}

func TestAPausedClusterOnlyTells(t *testing.T) {
	s := newStage(t)
	s.create(annotate(status.PausedAnnotation, "true"))
	s.becomes(status.Paused, `True Paused: Windlass does not act on this object while the annotation windlass.io/paused is "true"`)
	s.settled()
	if got := s.calls(); got != "" {
		t.Errorf("the tool was called for %q", got)
	}
	s.edit(func(c *clusterprovisionerv1alpha1.Cluster) { c.Annotations = nil })
	s.ready()
}
