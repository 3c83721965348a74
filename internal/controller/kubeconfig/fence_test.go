// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"errors"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
)

// closed is a fence that lets nothing but reads pass.
type closed struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (c closed) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet {
		return nil, errors.New("another instance holds the lease")
	}
	return c.next.RoundTrip(request)
}

// TestAFormerLeaderChangesAProvisionedCluster is about an instance that was frozen and goes on where it stopped: its requests to other clusters passed
// no fence.
func TestAFormerLeaderChangesAProvisionedCluster(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	fence := func(next http.RoundTripper) http.RoundTripper { return closed{next} }
	config := &clusterprovisionerv1alpha1.Kubeconfig{ObjectMeta: metav1.ObjectMeta{GenerateName: "way-"}}
	token(config)
	s.of(config)
	s.Create(t, config)
	exists := func(want bool) {
		t.Helper()
		for range 3 {
			_, _ = s.Reconcile(t, s.r, client.ObjectKeyFromObject(config))
		}
		for _, object := range made(accountOf(config)) {
			if s.Get(t, object) != want {
				t.Errorf("%T %q exists: %t", object, object.GetName(), !want)
			}
		}
	}
	s.r.fence = fence
	exists(false)
	s.r.fence = nil
	exists(true)
	if err := s.Live.Delete(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	s.r.fence = fence
	exists(true)
	s.r.fence = nil
	exists(false)
}
