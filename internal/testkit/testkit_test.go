// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestSyncSeesWhatOthersWrote(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "sync"}}
	h.Create(t, pool)
	h.Sync(t)
	if err := h.Client.Get(t.Context(), client.ObjectKeyFromObject(pool), pool); err != nil {
		t.Errorf("the cache does not have the pool: %v", err)
	}
	if h.Writes() != 0 {
		t.Errorf("other actors' writes are counted: %d", h.Writes())
	}
}
