// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

func podBuggerToolScenarios() []scenario {
	const shell = "podbuggertools/default/shell"
	tool := apply(`apiVersion: apps.jicki.cn/v1alpha1
kind: PodBuggerTool
metadata: {name: shell, namespace: default}
spec: {label: app=web, image: example.com/shell, maxPods: 10}
`)
	running := func(names ...string) []step {
		var steps []step
		for _, name := range names {
			steps = append(steps, apply(pod(name, "app: web")), until("pods/default/"+name, ".status.phase=Running"))
		}
		return steps
	}
	attached := func(name string) step { return until("pods/default/"+name, ".spec.ephemeralContainers#=1") }
	two := append([]step{nodes("a")}, running("one", "two")...)
	return []scenario{
		{
			name: "podbuggertool/attaches", given: two,
			steps: []step{tool, attached("one"), attached("two"), until(shell, ".status.matched=2")},
		},
		{
			name: "podbuggertool/pod-appears-later", given: two,
			before: []step{tool, attached("one"), attached("two")},
			steps:  append(running("three"), attached("three"), until(shell, ".status.matched=3")),
		},
		{
			name: "podbuggertool/deleted", given: two,
			before: []step{tool, attached("one"), attached("two")},
			steps:  []step{remove(shell), gone(shell)},
		},
	}
}
