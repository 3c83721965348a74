// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// TestAWriteIsLostToAController holds that a controller that writes an object several times in a row, as that of a new Deployment does, makes no
// conflict of a write that is decided on what the object is.
func TestAWriteIsLostToAController(t *testing.T) {
	t.Parallel()
	label := button{method: http.MethodPatch, body: `{"metadata":{"labels":{"team":"a"}}}`, media: "application/merge-patch+json"}
	tests := map[string]struct {
		button

		path string
		// tried is true if the write is only tried.
		tried bool
	}{
		"an action":                      {button{method: http.MethodPost}, "/pause", false},
		"a patch that refuses conflicts": {label, "", false},
		"the difference of a patch":      {label, "/diff", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r *rig
			web := &appsv1.Deployment{}
			var begin sync.Once
			var over atomic.Bool
			r = newMeddledRig(t, func(request *http.Request) error {
				if request.Method != http.MethodPatch || request.URL.Query().Has("dryRun") != test.tried {
					return nil
				}
				begin.Do(func() { time.AfterFunc(300*time.Millisecond, func() { over.Store(true) }) })
				if over.Load() {
					return nil
				}
				err := r.Live.Get(request.Context(), client.ObjectKeyFromObject(web), web)
				web.Status.ObservedGeneration++
				return errors.Join(err, r.Live.Status().Update(request.Context(), web))
			})
			ns := r.Namespace(t)
			web = r.deployment(t, ns, "web", "web:1")
			test.button.path = "/v1/deployments/" + ns + "/web" + test.path
			token := r.user(t, ns, rule("get,patch", "apps", "deployments"))
			query := "fieldManager=windlass-console-test&refuseConflicts=true"
			if test.tried {
				query = "fieldManager=windlass-console-test"
			}
			got := r.press(t, token, test.button, query)
			if got.status != http.StatusOK || !over.Load() || test.tried && strings.Contains(string(got.body), `"path":".status`) {
				t.Errorf("status %d: %s", got.status, got.body)
			}
		})
	}
}

// TestADifferenceHasWhatAControllerWrites has a controller that never stops writing. What it wrote was told as part of the write, in the end.
func TestADifferenceHasWhatAControllerWrites(t *testing.T) {
	t.Parallel()
	var r *rig
	web := &appsv1.Deployment{}
	r = newMeddledRig(t, func(request *http.Request) error {
		if request.Method != http.MethodPatch || !request.URL.Query().Has("dryRun") {
			return nil
		}
		err := r.Live.Get(request.Context(), client.ObjectKeyFromObject(web), web)
		web.Status.ObservedGeneration++
		return errors.Join(err, r.Live.Status().Update(request.Context(), web))
	})
	ns := r.Namespace(t)
	web = r.deployment(t, ns, "web", "web:1")
	got := r.press(t, r.user(t, ns, rule("get,patch", "apps", "deployments")), button{
		method: http.MethodPatch, path: "/v1/deployments/" + ns + "/web/diff", body: `{"metadata":{"labels":{"team":"a"}}}`, media: "application/merge-patch+json",
	}, "fieldManager=windlass-console-test")
	if got.status != http.StatusConflict || got.problem(t).Code != "Conflict" {
		t.Errorf("status %d: %s", got.status, got.body)
	}
}

// TestAPreviewIsLostToAController: a pool that is being applied is counted twice a second, and its preview was refused because of that.
func TestAPreviewIsLostToAController(t *testing.T) {
	t.Parallel()
	var r *rig
	var begin sync.Once
	var over atomic.Bool
	pool := &nodesv1.NodePool{}
	r = newMeddledRig(t, func(request *http.Request) error {
		if request.Method != http.MethodPut || !strings.HasSuffix(request.URL.Path, "/nodepools/"+pool.Name) || over.Load() {
			return nil
		}
		begin.Do(func() { time.AfterFunc(300*time.Millisecond, func() { over.Store(true) }) })
		err := r.Live.Get(request.Context(), client.ObjectKeyFromObject(pool), pool)
		pool.Status.NodeCount++
		return errors.Join(err, r.Live.Status().Update(request.Context(), pool))
	})
	pool.Name = newShop(t, r).ns
	got := r.do(t, http.MethodPost, "/v1/nodepools/"+pool.Name+"/preview", r.user(t, "", everything()), poolBody(pool.Name, `{"labels":{"tier":"gold"}}`))
	if got.status != http.StatusOK || !over.Load() {
		t.Errorf("status %d: %s", got.status, got.body)
	}
}

// TestAVersionThatIsGoneIsTriedAgainAndAgain holds that a caller who names the version that they have seen is told at once that it is gone.
func TestAVersionThatIsGoneIsTriedAgainAndAgain(t *testing.T) {
	t.Parallel()
	var tries atomic.Int32
	r := newMeddledRig(t, func(request *http.Request) error {
		if request.Method == http.MethodPatch {
			tries.Add(1)
		}
		return nil
	})
	ns := r.Namespace(t)
	r.deployment(t, ns, "web", "web:1")
	got := r.press(t, r.user(t, ns, rule("get,patch", "apps", "deployments")), button{
		method: http.MethodPatch, path: "/v1/deployments/" + ns + "/web",
		body: `{"metadata":{"resourceVersion":"1","labels":{"team":"a"}}}`, media: "application/merge-patch+json",
	}, "refuseConflicts=true")
	if got.status != http.StatusConflict || tries.Load() != 1 {
		t.Errorf("status %d after %d tries: %s", got.status, tries.Load(), got.body)
	}
}
