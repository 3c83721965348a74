// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

func TestManifestsAreAccepted(t *testing.T) {
	c := need(t)
	for _, directory := range []string{"crd", "rbac", "default", "gateway", "gateway-in-manager", "monitoring", "samples"} {
		t.Run("config/"+directory, func(t *testing.T) {
			c.do(t, "apply", "--server-side", "--dry-run=server", "-k", filepath.Join(root, "config", directory))
		})
	}
}

// TestComponentsAreAccepted applies all components together, and looks for what they switch off.
func TestComponentsAreAccepted(t *testing.T) {
	c := need(t)
	overlay := filepath.Join("testdata", "components")
	c.do(t, "apply", "--server-side", "--dry-run=server", "-k", overlay)
	built := c.do(t, "kustomize", overlay)
	for part, want := range map[string]bool{
		"--controllers=*,-podset": true, "windlass-podset-controller": false, "windlass-cluster-controller": true,
		"--tool-runner=job": true, "--metrics-secure": true, "secretName: docker-certs": true, "secretName: windlass-vm-hosts": true,
	} {
		if strings.Contains(built, part) != want {
			t.Errorf("%q is in the components: %t, want %t", part, !want, want)
		}
	}
}

// TestPodIsRestricted creates the Pods as a dry run, with all components: a Deployment whose pods Pod Security refuses is accepted, and
// nothing ever runs.
func TestPodIsRestricted(t *testing.T) {
	c := need(t)
	var seen []string
	for document := range strings.SplitSeq(c.do(t, "kustomize", filepath.Join("testdata", "components")), "\n---\n") {
		deployment := &appsv1.Deployment{}
		if err := yaml.Unmarshal([]byte(document), deployment); err != nil {
			t.Fatal(err)
		}
		if deployment.Kind != "Deployment" {
			continue
		}
		seen = append(seen, deployment.Name)
		pod := &corev1.Pod{ObjectMeta: deployment.Spec.Template.ObjectMeta, Spec: deployment.Spec.Template.Spec}
		pod.Namespace, pod.Name = deployment.Namespace, "restricted"
		if err := c.Client.Create(t.Context(), pod, client.DryRunAll); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]string{"windlass", "windlass-gateway"}, seen); diff != "" {
		t.Errorf("Deployments that are shipped (-want +got):\n%s", diff)
	}
}

// schema is what "kubectl explain" reads.
type schema struct {
	Description          string            `json:"description"`
	Properties           map[string]schema `json:"properties"`
	Items                *schema           `json:"items"`
	AdditionalProperties *schema           `json:"additionalProperties"`
	AllOf                []schema          `json:"allOf"`
	Ref                  string            `json:"$ref"`
}

func TestExplainHasNoEmptyDescription(t *testing.T) {
	c := need(t)
	for path, kind := range map[string]string{
		"/openapi/v3/apis/nodes.lailin.xyz/v1":     "NodePool",
		"/openapi/v3/apis/apps.jicki.cn/v1alpha1":  "PodSet",
		"/openapi/v3/apis/cloudnative.tw/v1alpha1": "VirtualMachine",
	} {
		// The API server describes a kind some time after it serves it.
		eventually(t, kind+" is described", func(ctx context.Context) error {
			for _, args := range [][]string{{"get", "--raw", path}, {"explain", strings.ToLower(kind)}} {
				if done := c.Run(ctx, c.Kubectl, args...); done.Code != 0 {
					return errors.New(done.Err)
				}
			}
			return nil
		})
		t.Run(kind, func(t *testing.T) {
			var document struct {
				Components struct {
					Schemas map[string]schema `json:"schemas"`
				} `json:"components"`
			}
			if err := json.Unmarshal([]byte(c.do(t, "get", "--raw", path)), &document); err != nil {
				t.Fatal(err)
			}
			for name, s := range document.Components.Schemas {
				ours := []string{"xyz.lailin.", "cn.jicki.", "tw.cloudnative."}
				if slices.ContainsFunc(ours, func(group string) bool { return strings.HasPrefix(name, group) }) &&
					strings.HasSuffix(name, "."+kind) {
					undocumented(t, kind, s)
				}
			}
		})
		t.Run("kubectl explain "+kind, func(t *testing.T) {
			out := c.do(t, "explain", strings.ToLower(kind), "--recursive")
			if strings.Contains(out, "<empty>") || !strings.Contains(out, "FIELDS:") {
				t.Errorf("it prints:\n%s", out)
			}
		})
	}
}

// undocumented reports every field without a description. Kubernetes' own types, which are referred to, are documented there.
func undocumented(t *testing.T, path string, s schema) {
	t.Helper()
	if s.Description == "" && s.Ref == "" && len(s.AllOf) == 0 {
		t.Errorf("%s has no description", path)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		undocumented(t, path+"."+name, s.Properties[name])
	}
	for nested := s.Items; nested != nil; nested = nil {
		for _, name := range slices.Sorted(maps.Keys(nested.Properties)) {
			undocumented(t, path+"[]."+name, nested.Properties[name])
		}
	}
}
