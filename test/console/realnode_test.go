// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/test/console/stage"
	"github.com/windlass-operator/windlass/test/rig"
)

// TestRealNode reads logs of containers that run, and types into one. realnode.mjs says what it looks at.
//
//nolint:paralleltest // because one cluster at a time is what two cores can do
func TestRealNode(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a whole cluster, which -short leaves out")
	}
	chromium := stage.Browser(t)
	programs, err := rig.FindPrograms()
	must(t, err)
	s := &showroom{Cluster: rig.Cluster{Programs: programs, Name: "visited"}}
	s.need(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	t.Cleanup(func() { must(t, s.Down(context.WithoutCancel(t.Context()))) })
	if err := s.Up(ctx, "--name", s.Name, "--real-node"); err != nil {
		if _, reason, refused := strings.Cut(err.Error(), "a real node needs "); refused {
			t.Skipf("a real node needs %s", strings.TrimSpace(reason))
		}
		t.Fatal(err)
	}
	must(t, s.Install(ctx))
	s.runChoir(t)
	s.ui = serves(ctx, t, &s.Cluster, "http://", s.Windlass, "ui", "--no-open", "--kubeconfig", s.Admin)
	s.visit(t, "realnode.mjs", chromium, scene{UI: s.ui})
}

// runChoir runs a Deployment of two pods that print lines, from an image that is made here.
func (s *showroom) runChoir(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	shell := filepath.Join(t.TempDir(), "sh")
	build := exec.CommandContext(ctx, "go", "build", "-o", shell, "./testdata/sh")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build the shell of the image: %v\n%s", err, out)
	}
	if done := s.Run(ctx, s.Devcluster, "image", "import", "--name", s.Name, "--ref", "choir:1", "--binary", shell); done.Code != 0 {
		t.Fatalf("cannot import the image: %s", done.Err)
	}
	labels := map[string]string{"app": "choir"}
	must(t, s.Client.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "choir"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				TerminationGracePeriodSeconds: new(int64(1)),
				Containers: []corev1.Container{{
					Name: "main", Image: "choir:1", ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{"sh", "sing", "$(NAME)"},
					Env: []corev1.EnvVar{{Name: "NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}},
				}},
			}},
		},
	}))
	s.kubectl(t, "wait", "deployment/choir", "--for=condition=Available", "--timeout="+patience.String())
}
