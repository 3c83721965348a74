// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package incluster

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/windlass-operator/windlass/test/rig"
)

// way installs Windlass with a version of the image, and upgrades it to another one when called again.
type way func(t *testing.T, s *stage, tag string)

// ways are what docs/guide/helm.md offers.
var ways = map[string]way{"kustomize": fromManifests, "helm": fromChart}

// overlay is what a team writes for its cluster: which node, where the API server is without a kube-proxy, where the engine is, and the patch for
// a certificate that the guide has.
const overlay = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [%[1]s/config/default, %[1]s/config/gateway]
components: [%[1]s/config/components/docker-certs, %[1]s/config/components/network-policy]
images: [{name: windlass, newTag: %[2]s}]
patches:
- target: {kind: Deployment}
  patch: |-
    - {op: add, path: /spec/template/spec/nodeSelector/kubernetes.io~1hostname, value: %[3]s}
    - {op: add, path: /spec/template/spec/containers/0/env/-, value: {name: KUBERNETES_SERVICE_HOST, value: %[4]s}}
    - {op: add, path: /spec/template/spec/containers/0/env/-, value: {name: KUBERNETES_SERVICE_PORT, value: "%[5]d"}}
- target: {kind: Deployment, name: windlass}
  patch: |-
    - {op: add, path: /spec/template/spec/containers/0/env/-, value: {name: DOCKER_HOST, value: "tcp://%[4]s:%[6]d"}}
- target: {kind: Deployment, name: windlass-gateway}
  patch: |-
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --tls-cert-file=/tls/tls.crt}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --tls-private-key-file=/tls/tls.key}
    - {op: add, path: /spec/template/spec/containers/0/volumeMounts, value: [{name: tls, mountPath: /tls, readOnly: true}]}
    - {op: add, path: /spec/template/spec/volumes, value: [{name: tls, secret: {secretName: windlass-gateway-tls}}]}
`

func fromManifests(t *testing.T, s *stage, tag string) {
	t.Helper()
	dir := t.TempDir()
	up, err := filepath.Rel(dir, s.Root)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), fmt.Appendf(nil, overlay, up, tag, node, s.machine, s.port, s.enginePort), 0o600))
	s.do(t, "apply", "--server-side", "-k", dir)
}

// values are the same for the chart.
const values = `image: {repository: windlass, tag: %[1]s}
manager: {nodeSelector: {kubernetes.io/hostname: %[2]s}, extraEnv: &server [
  {name: KUBERNETES_SERVICE_HOST, value: %[3]s}, {name: KUBERNETES_SERVICE_PORT, value: "%[4]d"}]}
docker: {host: "tcp://%[3]s:%[5]d", certsSecret: docker-certs}
gateway: {enabled: true, tlsSecret: windlass-gateway-tls, nodeSelector: {kubernetes.io/hostname: %[2]s}, extraEnv: *server}
networkPolicy: {enabled: true}
`

// release is what the chart is installed as.
const release = "windlass"

func fromChart(t *testing.T, s *stage, tag string) {
	t.Helper()
	if err := rig.CheckBuilt(s.helm()); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "values.yaml")
	must(t, os.WriteFile(file, fmt.Appendf(nil, values, tag, node, s.machine, s.port, s.enginePort), 0o600))
	if done := s.Run(t.Context(), s.helm(), "upgrade", "--install", release, filepath.Join(s.Root, "charts", "windlass"),
		"--namespace", rig.Namespace, "--values", file); done.Code != 0 {
		t.Fatalf("helm upgrade --install: %s", done.Err)
	}
}

// helm is Helm's own program.
func (s *stage) helm() string { return filepath.Join(s.Root, "bin", "helm") }

// releaseTest runs the Pod of the chart's test, which asks as the manager's account for what an installation must have.
func (s *stage) releaseTest(t *testing.T) {
	t.Helper()
	if status := s.Run(t.Context(), s.helm(), "status", release, "--namespace", rig.Namespace); status.Code != 0 {
		t.Skip("the manifests are no release of Helm")
	}
	if done := s.Run(t.Context(), s.helm(), "test", release, "--namespace", rig.Namespace, "--timeout", patience.String()); done.Code != 0 {
		t.Errorf("helm test: %s%s", done.Out, done.Err)
	}
}
