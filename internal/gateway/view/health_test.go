// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// TestHealth has objects as the API server stores them. Whatever had no conditions used to be ready.
func TestHealth(t *testing.T) {
	t.Parallel()
	ready := Health{State: HealthReady}
	for name, c := range map[string]struct {
		object string
		want   Health
	}{
		"a new PodSet":                              {`{"kind":"PodSet","status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"NotObserved"}]}}`, notObserved()},
		"a PodSet that nobody has reported on":      {`{"kind":"PodSet","spec":{"size":1}}`, notObserved()},
		"a VirtualMachine with an empty status":     {`{"kind":"VirtualMachine","status":{}}`, notObserved()},
		"a Node that its kubelet has not joined":    {`{"kind":"Node"}`, notObserved()},
		"a Deployment without a controller":         {`{"kind":"Deployment","spec":{"replicas":1}}`, notObserved()},
		"a Deployment whose rollout has failed":     {`{"kind":"Deployment","status":{"conditions":[{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded"},{"type":"Available","status":"True"}]}}`, Health{HealthFailed, "ProgressDeadlineExceeded"}},
		"a Service, which has no such state":        {`{"kind":"Service"}`, ready},
		"a ReplicaSet with all pods":                {`{"kind":"ReplicaSet","metadata":{"generation":2},"spec":{"replicas":2},"status":{"observedGeneration":2,"readyReplicas":2}}`, ready},
		"a ReplicaSet of an earlier revision":       {`{"kind":"ReplicaSet","metadata":{"generation":3},"spec":{"replicas":0},"status":{"observedGeneration":3}}`, ready},
		"a ReplicaSet that lacks one":               {`{"kind":"ReplicaSet","metadata":{"generation":2},"spec":{"replicas":2},"status":{"observedGeneration":2,"readyReplicas":1}}`, Health{HealthPending, "PodsUnavailable"}},
		"a ReplicaSet whose pods are refused":       {`{"kind":"ReplicaSet","status":{"conditions":[{"type":"ReplicaFailure","status":"True","reason":"FailedCreate"}]}}`, Health{HealthFailed, "FailedCreate"}},
		"a StatefulSet that was changed":            {`{"kind":"StatefulSet","metadata":{"generation":2},"spec":{"replicas":1},"status":{"observedGeneration":1,"readyReplicas":1}}`, notObserved()},
		"a DaemonSet that lacks one":                {`{"kind":"DaemonSet","metadata":{"generation":1},"status":{"observedGeneration":1,"desiredNumberScheduled":3,"numberReady":2}}`, Health{HealthPending, "PodsUnavailable"}},
		"a DaemonSet for no node":                   {`{"kind":"DaemonSet","metadata":{"generation":1},"status":{"observedGeneration":1,"desiredNumberScheduled":0}}`, ready},
		"a Job that has failed":                     {`{"kind":"Job","status":{"conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded"}]}}`, Health{HealthFailed, "BackoffLimitExceeded"}},
		"a Job that has completed":                  {`{"kind":"Job","status":{"conditions":[{"type":"Complete","status":"True"}]}}`, ready},
		"a Job that runs":                           {`{"kind":"Job","status":{"startTime":"2026-01-01T00:00:00Z","active":2,"ready":2}}`, ready},
		"a Job whose pods wait":                     {`{"kind":"Job","status":{"startTime":"2026-01-01T00:00:00Z","active":2,"ready":0}}`, Health{HealthPending, "PodsUnavailable"}},
		"a Job that is suspended":                   {`{"kind":"Job","spec":{"suspend":true}}`, Health{HealthPending, "JobSuspended"}},
		"a Job without a controller":                {`{"kind":"Job"}`, notObserved()},
		"a PersistentVolumeClaim without a volume":  {`{"kind":"PersistentVolumeClaim","status":{"phase":"Pending"}}`, Health{HealthPending, "Pending"}},
		"a PersistentVolumeClaim that lost its own": {`{"kind":"PersistentVolumeClaim","status":{"phase":"Lost"}}`, Health{HealthFailed, "Lost"}},
		"a Pod that runs and has no conditions":     {`{"kind":"Pod","status":{"phase":"Running"}}`, ready},
		"a Pod that waits for a node":               {`{"kind":"Pod","status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}}`, Health{HealthPending, "Unschedulable"}},
	} {
		object := &unstructured.Unstructured{}
		if err := utiljson.Unmarshal([]byte(c.object), &object.Object); err != nil {
			t.Fatal(err)
		}
		if got := healthOf(object); got != c.want {
			t.Errorf("%s is %+v, want %+v", name, got, c.want)
		}
	}
}
