// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

func podSetScenarios() []scenario {
	const web = "podsets/default/web"
	given := []step{nodes("a")}
	available := func(count int) step {
		return until(web, "Ready=True", fmt.Sprintf(".status.availableReplicas=%d", count))
	}
	before := []step{apply(podSet("size: 2")), available(2)}
	children := gone(web, "deployments.apps/default/web")
	return []scenario{
		{name: "podset/created", given: given, steps: before},
		{
			name: "podset/created-with-a-budget", given: given,
			steps: []step{apply(podSet("size: 2", "minAvailable: 1")), available(2)},
		},
		{name: "podset/scaled", given: given, before: before, steps: []step{merge(web, `{"spec":{"size":3}}`), available(3)}},
		{
			name: "podset/template-changed", given: given, before: before,
			steps: []step{
				merge(web, `{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"example.com/web:2"}]}}}}`),
				available(2),
			},
		},
		{
			name: "podset/refused-and-mended", given: given, before: before,
			steps: []step{
				merge(web, `{"spec":{"template":{"spec":{"restartPolicy":"Never"}}}}`), until(web, "Stalled=True", "Ready=False"),
				merge(web, `{"spec":{"template":{"spec":{"restartPolicy":"Always"}}}}`), until(web, "Stalled=False"), available(2),
			},
		},
		{
			name: "podset/budget-removed", given: given,
			before: []step{apply(podSet("size: 2", "minAvailable: 1")), available(2)},
			steps:  []step{merge(web, `{"spec":{"minAvailable":null}}`), gone("poddisruptionbudgets/default/web"), available(2)},
		},
		{
			name: "podset/deployment-changed-by-others", given: given, before: before,
			steps: []step{
				merge("deployments.apps/default/web", `{"spec":{"replicas":4}}`),
				until("deployments.apps/default/web", ".spec.replicas=2"), available(2),
			},
		},
		{name: "podset/deleted", given: given, before: before, steps: []step{remove(web), children}, undone: true},
		{
			name: "podset/recreated-under-the-same-name", given: given, before: before,
			// A Deployment that finds the ReplicaSet of its namesake gives its own another name.
			steps: []step{remove(web), children, none("replicasets.apps", "default"), apply(podSet("size: 1")), available(1)},
		},
	}
}

func podSet(spec ...string) string {
	manifest := `apiVersion: apps.jicki.cn/v1alpha1
kind: PodSet
metadata: {name: web, namespace: default}
spec:
  template: {spec: {terminationGracePeriodSeconds: 0, containers: [{name: web, image: "example.com/web:1"}]}}
`
	return manifest + indented(spec)
}
