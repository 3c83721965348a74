// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// byDefault are the conditions that a CRD gives a new object.
func byDefault() []metav1.Condition {
	return []metav1.Condition{{Type: status.Ready, Status: metav1.ConditionUnknown, Reason: status.ReasonNotObserved, LastTransitionTime: metav1.Unix(0, 0)}}
}

// The first report took over the time of the default where Ready stayed Unknown: the condition was said to be so since 1970.
func TestTheTimeOfADefaultIsNotTakenOver(t *testing.T) {
	t.Parallel()
	pool := build.Pool("p").Obj()
	pool.Status.Conditions = byDefault()
	if !status.Unwritten(pool.Status.Conditions) {
		t.Error("the default counts as written")
	}
	declared.Begin().Apply(pool, noon)
	if status.Unwritten(pool.Status.Conditions) {
		t.Error("what was written counts as the default")
	}
	for _, condition := range pool.Status.Conditions {
		if !condition.LastTransitionTime.Time.Equal(noon.Truncate(time.Second)) {
			t.Errorf("%s is %s since %s", condition.Type, condition.Status, condition.LastTransitionTime)
		}
	}
}

// Who knows kstatus took an object without a status for one that is finished, such as a Cluster that nobody provisioned because no Windlass ran.
func TestEveryNewObjectIsNotReady(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil || len(files) != 6 {
		t.Fatalf("found %d definitions, want 6: %v", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(raw, crd); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, version := range crd.Spec.Versions {
			var given struct {
				Conditions []metav1.Condition `json:"conditions"`
			}
			byDefault := version.Schema.OpenAPIV3Schema.Properties["status"].Default
			if byDefault == nil {
				t.Errorf("%s %s has no default for its status", crd.Spec.Names.Kind, version.Name)
				continue
			}
			if err := json.Unmarshal(byDefault.Raw, &given); err != nil {
				t.Errorf("%s %s: %v", crd.Spec.Names.Kind, version.Name, err)
			}
			if !status.Unwritten(given.Conditions) || given.Conditions[0].Message == "" {
				t.Errorf("%s %s starts with %+v", crd.Spec.Names.Kind, version.Name, given.Conditions)
			}
		}
	}
}
