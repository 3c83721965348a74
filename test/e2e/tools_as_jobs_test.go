// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/provision/contract"
	"github.com/windlass-operator/windlass/internal/provision/job"
	"github.com/windlass-operator/windlass/internal/status"
)

// The images of the tests, which no registry has.
const (
	windlassImage = "windlass:e2e"
	toolImage     = "tool:e2e"
)

// runLabel is on the Secret, the Jobs and the Pods of a cluster's runs.
const runLabel = "clusterprovisioner.rke.io/run-of"

// TestToolsAsJobs runs tools in Pods of a real node, under the level "restricted" of Pod Security.
func TestToolsAsJobs(t *testing.T) {
	c := startWithRealNode(t)
	tool := filepath.Join(t.TempDir(), "tool")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", tool, "./testdata/tool")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build the tool: %v\n%s", err, out)
	}
	for image, program := range map[string]string{windlassImage: c.Windlass, toolImage: tool} {
		if done := c.Run(t.Context(), c.Devcluster, "image", "import", "--name", c.Name, "--ref", image, "--binary", program); done.Code != 0 {
			t.Fatalf("cannot import the image %s: %s", image, done.Err)
		}
	}
	t.Run("a killed manager finds the Job, and a removal leaves nothing", c.jobOutlivesManager)
	t.Run("contract", func(t *testing.T) { contract.Run(t, c.toolsAsJobs) })
}

// toolsAsJobs is the subject of the contract, in a namespace of its own.
func (c *cluster) toolsAsJobs(t *testing.T) contract.Subject {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "runs-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	if err := c.Client.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	attach, err := job.NewAttach(c.Config, ns.Name)
	if err != nil {
		t.Fatal(err)
	}
	return contract.Subject{
		Command: []string{"tool"}, Hidden: "KUBERNETES_PORT",
		Place: func(t *testing.T) provision.Place {
			t.Helper()
			made := &clusterprovisionerv1alpha1.Cluster{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "contract-", Annotations: map[string]string{status.PausedAnnotation: "true"}},
				Spec:       clusterprovisionerv1alpha1.ClusterSpec{Config: &clusterprovisionerv1alpha1.ConfigSource{Inline: "nodes: []"}},
			}
			if err := c.Client.Create(t.Context(), made); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Client.Delete(context.WithoutCancel(t.Context()), made) }) // and with it everything that it owns
			return provision.Place{Cluster: string(made.UID), Name: made.Name}
		},
		Again: func(t *testing.T) provision.Provisioner {
			t.Helper()
			runner := job.New(job.Options{
				Client: c.Client, Namespace: ns.Name, Supervisor: windlassImage, Images: map[string]string{"exec": toolImage}, Limit: 2,
				Attach: attach, Now: time.Now,
			})
			ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
			ended := make(chan struct{})
			go func() { defer close(ended); _ = runner.Watch(ctx) }()
			t.Cleanup(func() { stop(); <-ended })
			return runner
		},
		Crash: func(t *testing.T, cluster string) {
			t.Helper()
			err := c.Client.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(ns.Name), client.MatchingLabels{runLabel: cluster},
				client.GracePeriodSeconds(0))
			if err != nil {
				t.Fatal(err)
			}
		},
	}
}

// jobCluster is a Cluster whose tool waits until it is told to end.
const jobCluster = `apiVersion: clusterprovisioner.rke.io/v1alpha1
kind: Cluster
metadata: {name: as-job}
spec:
  provisioner: exec
  exec:
    up: [tool, %s, "{config}"]
    remove: [tool, work, "{config}"]
    stateFiles: ["*.state"]
    kubeconfigFile: "kube_config_{configname}"
  config: {inline: "nodes: []"}
`

// jobOutlivesManager kills the manager while a tool runs, changes and removes the Cluster, with the rights that are shipped.
func (c *cluster) jobOutlivesManager(t *testing.T) {
	c.do(t, "apply", "--server-side", "-k", filepath.Join(root, "config", "rbac", "tools-as-jobs"))
	// The Pod that the manager says it runs in. It is never scheduled: only its image is read.
	c.apply(t, `apiVersion: v1
kind: Pod
metadata: {name: windlass-e2e, namespace: windlass-system}
spec:
  schedulingGates: [{name: example.com/never}]
  securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: manager
    image: `+windlassImage+`
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`)
	args := []string{
		"--holder-identity=windlass-e2e", "--allowed-provisioners=rke,exec", "--tool-runner=job", "--tool-images=exec=" + toolImage,
		"--state-dir=" + t.TempDir(),
	}
	m := c.startManager(t, args...).ready()
	c.apply(t, fmt.Sprintf(jobCluster, "hang"))
	c.jobSays(t, "waiting")
	c.podHasNoToken(t)
	m.kill()
	m = c.startManager(t, args...).ready()
	c.jobSays(t, "waiting")
	if jobs := c.jobs(t); len(jobs) != 1 {
		t.Errorf("there are %d Jobs, want the one that was there before", len(jobs))
	}
	// Deleted in the middle: the tool is stopped, what it saved is kept for the removal, and nothing stays.
	c.do(t, "delete", "clusters.clusterprovisioner.rke.io", "as-job", "--wait=false")
	eventually(t, "the Cluster is gone", func(ctx context.Context) error {
		found := &clusterprovisionerv1alpha1.Cluster{}
		err := c.Client.Get(ctx, client.ObjectKey{Name: "as-job"}, found)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there, with %+v (%w)", found.Status.LastOperation, err)
	})
	eventually(t, "nothing is left", func(ctx context.Context) error {
		for _, list := range []client.ObjectList{&batchv1.JobList{}, &corev1.PodList{}, &corev1.SecretList{}} {
			if err := c.Client.List(ctx, list, client.InNamespace(namespace), client.HasLabels{runLabel}); err != nil {
				return err
			}
			if left := apimeta.LenList(list); left > 0 {
				return fmt.Errorf("%d of %T are left", left, list)
			}
		}
		return nil
	})
	m.stop()
}

func (c *cluster) jobs(t *testing.T) []batchv1.Job {
	t.Helper()
	var jobs batchv1.JobList
	if err := c.Client.List(t.Context(), &jobs, client.InNamespace(namespace), client.HasLabels{runLabel}); err != nil {
		t.Fatal(err)
	}
	return jobs.Items
}

// jobSays waits until the Cluster's status has what its tool says.
func (c *cluster) jobSays(t *testing.T, stage string) {
	t.Helper()
	eventually(t, "the tool says "+stage, func(ctx context.Context) error {
		found := &clusterprovisionerv1alpha1.Cluster{}
		if err := c.Client.Get(ctx, client.ObjectKey{Name: "as-job"}, found); err != nil {
			return err
		}
		if last := found.Status.LastOperation; last == nil || last.Stage != stage {
			return fmt.Errorf("status is %+v with %+v", found.Status, last)
		}
		return nil
	})
}

// podHasNoToken looks at what the API server and the kubelet have made of the Pod.
func (c *cluster) podHasNoToken(t *testing.T) {
	t.Helper()
	var pods corev1.PodList
	if err := c.Client.List(t.Context(), &pods, client.InNamespace(namespace), client.HasLabels{runLabel}); err != nil || len(pods.Items) != 1 {
		t.Fatalf("there are %d Pods (%v)", len(pods.Items), err)
	}
	for _, volume := range pods.Items[0].Spec.Volumes {
		if volume.Projected != nil || strings.HasPrefix(volume.Name, "kube-api-access") {
			t.Errorf("the Pod has a token: %+v", volume)
		}
	}
}
