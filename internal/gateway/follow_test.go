// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/testkit"
)

// raw opens a stream and returns its lines as they come. Nothing is read before they are asked for.
func (r *rig) raw(t *testing.T, token, path string) *bufio.Scanner {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base+path, http.NoBody)
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	_, op := operationFor(r.g.OpenAPI(), http.MethodGet, "/v1/watch")
	media := response.Header.Get("Content-Type")
	if response.StatusCode != http.StatusOK || op.Responses["200"].Content[media] == nil {
		t.Fatalf("a stream begins with %d and %q", response.StatusCode, media)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	return lines
}

// skip reads lines up to the one that holds.
func skip(lines *bufio.Scanner, holds func(line string) bool) {
	for lines.Scan() {
		if holds(lines.Text()) {
			return
		}
	}
}

// TestStreamSaysThatItLives holds that a stream on which nothing happens is told from one that is dead, also by a page, which sees no comments.
func TestStreamSaysThatItLives(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	lines := r.raw(t, r.user(t, "", everything()), "/v1/watch?kinds=kubeconfigs")
	seen := map[string]int{}
	for lines.Scan() && seen["event: beat"] < 3 {
		seen[lines.Text()]++
	}
	if seen["retry: 2000"] != 1 || seen["event: snapshot"] == 0 || seen["event: beat"] < 3 {
		t.Errorf("the stream has the lines %v", seen)
	}
}

// TestSlowReaderBeginsAnew has a reader that takes nothing while far more happens than a connection holds. Writers are not held up,
// and the reader learns that it has missed changes and gets everything again.
func TestSlowReaderBeginsAnew(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	slow := r.raw(t, r.user(t, "", everything()), "/v1/watch?kinds=kubeconfigs")
	skip(slow, func(line string) bool { return strings.Contains(line, `"done":true`) }) // and then takes nothing
	k := r.kind(t, "kubeconfigs")
	large := map[string]string{"padding": strings.Repeat("x", 200<<10)}
	const changes = 512      // twice what a reader may be behind
	for i := range changes { // as the watch of the store does
		changed := object(k.GVK.Kind, "", "one", i+1)
		changed.SetAPIVersion(k.GVK.GroupVersion().String())
		changed.SetAnnotations(large)
		must(t, k.Store.Update(changed))
	}
	upserts := 0
	for slow.Scan() && slow.Text() != "event: resync" {
		if slow.Text() == "event: upsert" {
			upserts++
		}
	}
	skip(slow, func(line string) bool { return strings.Contains(line, `"items":[{`) })
	if !strings.Contains(slow.Text(), fmt.Sprintf(`"resourceVersion":"%d"`, changes)) || upserts >= changes {
		t.Errorf("after %d of %d changes the new snapshot is %.300s (%v)", upserts, changes, slow.Text(), slow.Err())
	}
}

// TestTableOfSomeNamespaces holds that who may not list everything gets one table of what they may. Made from the store it has pages; of
// the parts that the API server makes each would have pages of its own, so it is whole.
func TestTableOfSomeNamespaces(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	home, first, second, hidden := r.Namespace(t), r.Namespace(t), r.Namespace(t), r.Namespace(t)
	token := r.token(t, home, "user")
	for _, ns := range []string{first, second} {
		r.grant(t, home, ns, rule("list", "", "services"), rule("list", "", "configmaps"))
	}
	for _, ns := range []string{first, second, hidden} {
		for _, name := range []string{"api", "shop"} {
			r.service(t, ns, name)
			r.Create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}})
		}
	}
	testkit.Eventually(t, "the store has all Services", func() bool {
		return strings.Count(string(r.do(t, http.MethodGet, "/v1/tables/services", token, "").body), `"cells"`) == 4
	})
	for path, test := range map[string]struct {
		want  []string
		pages bool
	}{
		"services":         {want: []string{"api", "shop", "api", "shop"}},
		"services?limit=1": {want: []string{"api"}, pages: true},
		"services?fieldSelector=metadata.name=api": {want: []string{"api", "api"}},
		"services?limit=1&ns=" + first:             {want: []string{"api"}, pages: true},
		"services?q=shop&sort=created&ns=" + first: {want: []string{"shop"}},
		"configmaps":         {want: []string{"api", "shop", "api", "shop"}},
		"configmaps?limit=1": {want: []string{"api", "shop", "api", "shop"}},
		"configmaps?fieldSelector=metadata.name=api": {want: []string{"api", "api"}},
		"configmaps?limit=1&ns=" + first:             {want: []string{"api"}, pages: true},
	} {
		got := r.do(t, http.MethodGet, "/v1/tables/"+path, token, "")
		var table metav1.Table
		must(t, json.Unmarshal(got.body, &table))
		if got.status != http.StatusOK || !cmp.Equal(test.want, firstCells(table)) || (table.Continue != "") != test.pages {
			t.Errorf("%q: %d with the rows %q and %q to go on with, want %q", path, got.status, firstCells(table), table.Continue, test.want)
		}
	}
	if got := r.do(t, http.MethodGet, "/v1/tables/services?ns="+hidden, token, ""); got.status != http.StatusForbidden {
		t.Errorf("another namespace: %d", got.status)
	}
}
