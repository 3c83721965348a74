// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestAFinalizerThatWasNotRemovedRepeatsNoRemoval is about the article's endless loop: each pass whose last write failed removed the
// cluster again.
func TestAFinalizerThatWasNotRemovedRepeatsNoRemoval(t *testing.T) {
	s := newStage(t)
	s.create()
	s.ready()
	s.delete()
	s.until("the removal has ended", func() bool {
		last := s.cluster.Status.LastOperation
		return last.Action == clusterprovisionerv1alpha1.ActionRemove && last.EndTime != nil
	})
	// What a pass leaves that dies, or fails, between forgetting the runs and writing the object.
	if err := s.runner.Forget(t.Context(), string(s.cluster.UID)); err != nil {
		t.Fatal(err)
	}
	s.restart()
	s.gone()
	if got := s.calls(); got != "1 up, 1 remove" {
		t.Errorf("the tool was called for %q", got)
	}
}

func TestAClusterThatSomebodyElseHoldsIsRemovedOnce(t *testing.T) {
	const foreign = "example.com/held"
	s := newStage(t)
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) { c.Finalizers = []string{foreign} })
	s.ready()
	s.delete()
	s.until("only the other finalizer is left", func() bool { return slices.Equal(s.cluster.Finalizers, []string{foreign}) })
	s.restart()
	s.settled()
	if got := s.calls(); got != "1 up, 1 remove" {
		t.Errorf("the tool was called for %q", got)
	}
	s.edit(func(c *clusterprovisionerv1alpha1.Cluster) { c.Finalizers = nil })
	s.gone()
}

func TestAClusterWithoutAKubeconfigIsNotHealthy(t *testing.T) {
	s := newStage(t)
	s.remove("source")
	s.create()
	s.becomes(clusterprovisionerv1alpha1.ConditionProvisioned, "True Applied")
	s.settled()
	for conditionType, want := range map[string]string{
		status.Ready: "False KubeconfigMissing: the tool has not written a kubeconfig",
		clusterprovisionerv1alpha1.ConditionKubeconfigAvailable: "False KubeconfigMissing: the tool has not written a kubeconfig",
		clusterprovisionerv1alpha1.ConditionHealthy:             "Unknown NotProbed: the API server has not been probed yet",
	} {
		if !s.is(conditionType, want) {
			t.Errorf("%s is %q, want %q", conditionType, testkit.Condition(s.cluster, conditionType), want)
		}
	}
}

// Each manager that took over told everybody that the cluster is not known to answer, and then that it answers.
func TestATakeoverKeepsWhatIsKnownOfTheHealth(t *testing.T) {
	s := newStage(t)
	s.create()
	s.ready()
	want := s.cluster.ResourceVersion
	s.restart() // its prober has asked nobody so far
	s.pass()
	if got := s.cluster.ResourceVersion; got != want || !s.is(clusterprovisionerv1alpha1.ConditionHealthy, "True Answering") {
		t.Errorf("Healthy is %q, and the object was written: %t", testkit.Condition(s.cluster, clusterprovisionerv1alpha1.ConditionHealthy), got != want)
	}
}

func TestAVersionThatIsUnknownEmptiesNoAnnotation(t *testing.T) {
	s := newStage(t)
	s.create()
	s.ready()
	want := s.cluster.Annotations[clusterprovisionerv1alpha1.VersionAnnotation]
	s.restart() // its prober has asked nobody so far
	s.pass()
	if got := s.cluster.Annotations[clusterprovisionerv1alpha1.VersionAnnotation]; got != want || want == "" {
		t.Errorf("the annotation is %q, and was %q", got, want)
	}
}

func TestWhatStallsIsToldOnce(t *testing.T) {
	s := newStage(t)
	s.remove("cluster.yml")
	s.create()
	s.becomes(status.Stalled, s.notFound())
	s.settled()
	mine := 0
	for _, e := range s.Events.Take() {
		if e.Reason == clusterprovisionerv1alpha1.ReasonConfigNotFound {
			mine++
		}
	}
	if mine != 1 {
		t.Errorf("it was told %d times that there is no configuration", mine)
	}
}

func TestADeletedKubeconfigSecretComesBack(t *testing.T) {
	s := newStage(t)
	s.create()
	s.ready()
	s.settled()
	secret := s.secret(clusterprovisionerv1alpha1.KubeconfigSecretSuffix)
	want := secret.Data["value"]
	if err := s.Live.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	s.restart()
	s.remove("kube_config_cluster.yml") // what the tool left is gone, as it is in a new pod
	s.settled()
	if got := s.secret(clusterprovisionerv1alpha1.KubeconfigSecretSuffix).Data["value"]; !bytes.Equal(got, want) {
		t.Errorf("the Secret holds %q", got)
	}
	if got := s.calls(); got != "1 up" {
		t.Errorf("the tool was called for %q", got)
	}
}

func TestAKubeconfigMovesWithItsReference(t *testing.T) {
	s := newStage(t)
	s.create()
	s.ready()
	former := s.secret(clusterprovisionerv1alpha1.KubeconfigSecretSuffix)
	s.edit(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.KubeconfigSecretRef = &corev1.SecretReference{Name: "moved"}
	})
	s.settled()
	moved := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "moved"}}
	if !s.Get(t, moved) || !bytes.Equal(moved.Data["value"], former.Data["value"]) || s.cluster.Status.KubeconfigRef.Name != "moved" {
		t.Errorf("the Secret holds %q, the status names %v", moved.Data["value"], s.cluster.Status.KubeconfigRef)
	}
	if s.Get(t, former) {
		t.Error("the former Secret is still there")
	}
}

func TestARefusedKubeconfigKeepsItsReason(t *testing.T) {
	for name, test := range map[string]struct {
		change func(s *stage) func(*clusterprovisionerv1alpha1.Cluster)
		want   func(s *stage) string
	}{
		"it runs a program": {
			change: func(s *stage) func(*clusterprovisionerv1alpha1.Cluster) {
				s.program()
				return func(*clusterprovisionerv1alpha1.Cluster) {}
			},
			want: func(*stage) string { return runsProgram },
		},
		"its Secret belongs to somebody else": {
			change: func(s *stage) func(*clusterprovisionerv1alpha1.Cluster) {
				s.Create(s.t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "taken"}})
				return func(c *clusterprovisionerv1alpha1.Cluster) {
					c.Spec.KubeconfigSecretRef = &corev1.SecretReference{Namespace: s.namespace, Name: "taken"}
				}
			},
			want: func(s *stage) string {
				return "False SecretConflict: Secret " + s.namespace + "/taken exists and does not belong to this Cluster. Delete it, or name another in " +
					"spec.kubeconfigSecretRef"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.create(test.change(s))
			s.becomes(clusterprovisionerv1alpha1.ConditionProvisioned, "True Applied")
			for range 3 {
				s.settled()
				want := test.want(s)
				if !s.is(clusterprovisionerv1alpha1.ConditionKubeconfigAvailable, want) || !s.is(status.Ready, want) {
					t.Fatalf("want %q, conditions are %v", want, s.cluster.Status.Conditions)
				}
			}
		})
	}
}

// TestASecondClusterWithTheSameFileIsRefused is about two Clusters of one file: deleting the second one destroyed the first one's cluster.
func TestASecondClusterWithTheSameFileIsRefused(t *testing.T) {
	s := newStage(t)
	s.create()
	s.ready()
	first := s.cluster
	link := filepath.Join(s.dir, "link.yml")
	if err := os.Symlink("cluster.yml", link); err != nil {
		t.Fatal(err)
	}
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.ConfigPath = link })
	s.becomes(status.Stalled, `True ConfigPathInUse: file "`+link+`" belongs to Cluster "`+first.Name+`": give this Cluster a file of its own`)
	s.settled()
	s.delete()
	s.gone()
	if got := s.calls(); got != "1 up" {
		t.Errorf("the tool was called for %q", got)
	}
	s.cluster = first
	s.settled()
	if want := s.answers(); !s.is(status.Ready, want) {
		t.Errorf("Ready of the first is %q, want %q", testkit.Condition(s.cluster, status.Ready), want)
	}
}

func TestRetryRunsTheToolForAClusterThatDoesNotAnswer(t *testing.T) {
	s := newStage(t)
	s.create()
	s.ready()
	silent := "127.0.0.1:" + testkit.SilentPort(t)
	s.file("source", strings.ReplaceAll(string(s.kubeconfig()), s.Config.Host, "https://"+silent))
	s.edit(annotate(clusterprovisionerv1alpha1.RetryAnnotation, "1"))
	s.becomes(clusterprovisionerv1alpha1.ConditionHealthy, `False NotAnswering: /readyz: Get "https://`+silent+`/readyz?timeout=5s": dial tcp `+silent+`: connect: connection refused`)
	s.settled()
	if got := s.calls(); got != "2 up" {
		t.Fatalf("the tool was called for %q", got)
	}
	s.file("source", string(s.kubeconfig()))
	s.edit(annotate(clusterprovisionerv1alpha1.RetryAnnotation, "2"))
	s.ready()
	s.settled()
	if got := s.calls(); got != "3 up" {
		t.Errorf("the tool was called for %q", got)
	}
}

func TestAConfigurationThatAppearsIsNoticedWithinSeconds(t *testing.T) {
	s := newStage(t)
	s.remove("cluster.yml")
	s.create()
	s.becomes(status.Stalled, s.notFound())
	result, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(s.cluster))
	if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > 5*time.Second {
		t.Errorf("it is looked for again after %v, %v", result.RequeueAfter, err)
	}
}

// TestAToolThatWasBusyOnceHasNoVersionForever is about a version that could not be read before the first run: nobody asked again.
func TestAToolThatWasBusyOnceHasNoVersionForever(t *testing.T) {
	s := newStage(t)
	s.file("version.fails", strings.Repeat("busy\n", 100))
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.Exec.Version = []string{"tool", "play", "version", filepath.Join(s.dir, "cluster.yml")}
	})
	s.until("the tool is started", func() bool { return s.cluster.Status.LastOperation != nil })
	if got := s.cluster.Status.ToolVersion; got != "" {
		t.Errorf("the version of a tool that fails is %q", got)
	}
	s.remove("version.fails")
	s.ready()
	if got := s.cluster.Status.ToolVersion; !strings.Contains(got, "version begins") {
		t.Errorf("the version is %q", got)
	}
	s.settled()
}

// TestFilesThatCannotBeAreNoticedOnceTheMachinesAreThere is about names of files that no tool can leave where Windlass looks. What the API server cannot tell
// is said before the run.
func TestFilesThatCannotBeAreNoticedOnceTheMachinesAreThere(t *testing.T) {
	s := newStage(t)
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.Exec.StateFiles = []string{"{config}.state"} })
	s.becomes(status.Stalled, `True ConfigUnreadable: cannot use "{config}.state" in exec.stateFiles: it names a directory. Correct spec.exec`)
	if got := s.calls(); got != "" {
		t.Errorf("the tool was called for %q", got)
	}
	testkit.Edit(t, s.Harness, s.cluster, func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.Exec.StateFiles = []string{"*.json"} })
	s.ready()
}

// TestAnUpgradeRunsTheToolForSeveralDocuments is about the digest that earlier versions have recorded, which is that of the first document: the others
// looked like a change, and the tool was run for all such Clusters at once.
func TestAnUpgradeRunsTheToolForSeveralDocuments(t *testing.T) {
	const text = configText + "---\nother: {a: 1}\n"
	s := newStage(t)
	s.file("cluster.yml", text)
	s.create()
	s.ready()
	s.settled()
	want := s.cluster.Status.AppliedConfig
	s.cluster.Status.AppliedConfigHash, s.cluster.Status.AppliedConfig = mustRead(text).Former, "of the first document"
	if err := s.Live.Status().Update(t.Context(), s.cluster); err != nil {
		t.Fatal(err)
	}
	s.until("the digest is that of all documents", func() bool { return s.cluster.Status.AppliedConfigHash == mustRead(text).Digest })
	s.settled()
	if got := s.cluster.Status.AppliedConfig; got != want || s.calls() != "1 up" {
		t.Errorf("the tool was called for %q, and what is applied is\n%s", s.calls(), got)
	}
}

// TestARunThatIsGoneWithItsPodIsUnderWayForEver is about a --state-dir that does not outlive the manager: no run was left to end, the attempts were used
// up, and the API server refused a status without a reason.
func TestARunThatIsGoneWithItsPodIsUnderWayForEver(t *testing.T) {
	gone := func(t *testing.T, attempts int32) *stage {
		t.Helper()
		s := newStage(t)
		s.file("up.hangs", "")
		s.create(quick, func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.Retry.Attempts = attempts })
		s.until("the tool runs", func() bool { return s.calls() == "1 up" })
		s.becomes(status.Reconciling, "True Applying: waiting for the tool to apply the configuration")
		s.killSupervisor()
		s.remove("up.hangs")
		s.lead("before", "none")
		return s
	}
	const lost = "nothing is left of the run: the Pod or the machine that it ran on is gone"
	t.Run("it was the last attempt", func(t *testing.T) {
		s := gone(t, 1)
		s.becomes(status.Stalled, "True Interrupted: gave up after 1 attempts: "+lost)
		s.settled()
		if last := s.cluster.Status.LastOperation; last.EndTime == nil || last.Reason != clusterprovisionerv1alpha1.ReasonInterrupted || s.calls() != "1 up" {
			t.Errorf("calls %q, and the last run is %+v", s.calls(), last)
		}
		s.edit(annotate(clusterprovisionerv1alpha1.RetryAnnotation, "1"))
		s.ready()
	})
	t.Run("there are more", func(t *testing.T) {
		s := gone(t, 2)
		s.becomes(status.Reconciling, "True Retrying: waiting for attempt 2 after Interrupted: "+lost)
		s.repeated()
		log := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.cluster.Name + clusterprovisionerv1alpha1.LogSuffix}}
		if !s.Get(t, log) || len(provision.DecodeHistory(log.Data)) != 2 {
			t.Errorf("the runs that are kept: %v", log.Data)
		}
	})
}

// TestAKubeconfigThatIsOfNoUseKeepsTheToolFromRunning is about a certificate authority that is no certificate: each pass failed before it started the tool,
// so that neither a correction nor the annotation brought a better kubeconfig.
func TestAKubeconfigThatIsOfNoUseKeepsTheToolFromRunning(t *testing.T) {
	s := newStage(t)
	s.file("source", string(unusable(t)))
	s.create()
	s.becomes(clusterprovisionerv1alpha1.ConditionKubeconfigAvailable, "False KubeconfigInvalid: cannot make a client for cluster \""+s.cluster.Name+"\": …")
	s.settled()
	if !s.is(clusterprovisionerv1alpha1.ConditionHealthy, "Unknown NotProbed: the API server has not been probed yet") {
		t.Errorf("the conditions are %+v", s.cluster.Status.Conditions)
	}
	s.file("source", string(s.kubeconfig()))
	s.edit(annotate(clusterprovisionerv1alpha1.RetryAnnotation, "1"))
	s.ready()
	if got := s.calls(); got != "2 up" {
		t.Errorf("the tool was called for %q", got)
	}
}
