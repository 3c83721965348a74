// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
)

// TestAClusterThatMovesIsRunWithoutItsState is about a configuration that moved from a file into the object: tools name their state by the configuration, so
// the next run found none, as for a new cluster. When it had succeeded, the copy of the state was dropped.
func TestAClusterThatMovesIsRunWithoutItsState(t *testing.T) {
	const next = configText + "ssh_agent_auth: true\n"
	s := newStage(t)
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.Exec.StateFiles = []string{"{configstem}.rkestate"}
	})
	s.ready()
	s.edit(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.ConfigPath, c.Spec.Config = "", &clusterprovisionerv1alpha1.ConfigSource{Inline: next}
	})
	s.until("the change is applied", func() bool { return s.cluster.Status.AppliedConfigHash == mustRead(next).Digest })
	s.settled()
	got, err := os.ReadFile(filepath.Join(s.dir, "root", string(s.cluster.UID), "work", "config.rkestate"))
	if string(got) != "done" || err != nil {
		t.Errorf("the tool found the state %q (%v)", got, err)
	}
	data := s.secret(clusterprovisionerv1alpha1.StateSecretSuffix).Data
	if kept, err := unpack(data[keyState+"config.rkestate"]); string(kept) != "done" || err != nil || len(data[keyState+"cluster.rkestate"]) > 0 {
		t.Errorf("the copy of the state is %q (%v)", kept, err)
	}
	s.delete()
	s.gone()
}

// TestTheStateOfARun is about what the tool finds beside its configuration.
func TestTheStateOfARun(t *testing.T) {
	t.Parallel()
	rke, err := provision.Preset("rke")
	if err != nil {
		t.Fatal(err)
	}
	in := func(path string) document { return document{[]byte(textA), path} }
	state := func(texts ...string) map[string][]byte {
		all := map[string][]byte{}
		for i := 0; i < len(texts); i += 2 {
			all[texts[i]+".rkestate"] = []byte(texts[i+1])
		}
		return all
	}
	for name, test := range map[string]struct {
		kept *store
		path string
		want map[string][]byte
	}{
		"nothing is stored":    {nil, "/b.yml", nil},
		"the file is the same": {&store{given: in("/a.yml"), applied: in("/a.yml"), state: state("a", "1")}, "/a.yml", state("a", "1")},
		"the file is another":  {&store{given: in("/a.yml"), applied: in("/a.yml"), state: state("a", "1")}, "/b.yml", state("b", "1")},
		"it was a file":        {&store{given: in("/a.yml"), applied: in("/a.yml"), state: state("a", "1")}, "", state("cluster", "1")},
		"it becomes a file":    {&store{given: in(""), applied: in(""), state: state("cluster", "1")}, "/a.yml", state("a", "1")},
		"nothing was applied":  {&store{given: in("/a.yml"), state: state("a", "1")}, "/b.yml", state("b", "1")},
		"a run with the other file has failed, and left none":       {&store{given: in("/b.yml"), applied: in("/a.yml"), state: state("a", "1")}, "/b.yml", state("b", "1")},
		"a run with the other file has failed, and left one":        {&store{given: in("/b.yml"), applied: in("/a.yml"), state: state("a", "1", "b", "2")}, "/b.yml", state("a", "1", "b", "2")},
		"a run with yet another file has failed, and left a state":  {&store{given: in("/b.yml"), applied: in("/a.yml"), state: state("a", "1", "b", "2")}, "/c.yml", state("a", "1", "c", "2")},
		"what was applied is removed after a run with another file": {&store{given: in("/b.yml"), applied: in("/a.yml"), state: state("a", "1", "b", "2")}, "/a.yml", state("a", "1", "b", "2")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, test.kept.stateFor(rke, "one", test.path)); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhichRunLeftTheState tells a stored state from what a run left that nobody could store.
func TestWhichRunLeftTheState(t *testing.T) {
	t.Parallel()
	const fraction = 400 * time.Millisecond
	files := map[string][]byte{"cluster.rkestate": []byte("1")}
	was := &store{given: document{text: []byte(textA)}, state: files, from: noon}
	earlier := &store{given: was.given, state: files}
	run := &provision.Run{Action: provision.Up, Phase: provision.Failed, StartedAt: noon.Add(time.Hour + fraction)}
	after := func(kept *store, left provision.Artifacts) *store {
		next, _ := kept.after(run, &left)
		return next
	}
	before := func(kept *store, action provision.Action) *store {
		last := &clusterprovisionerv1alpha1.Operation{StartTime: new(metav1.NewTime(noon.Add(time.Minute)))}
		return kept.before(&launch{action: action, document: was.given}, last)
	}
	for name, test := range map[string]struct {
		kept *store
		want time.Time
	}{
		"a run has left a state":                         {after(was, provision.Artifacts{State: files}), noon.Add(time.Hour)},
		"a run was lost":                                 {after(was, provision.Artifacts{}), noon},
		"a run has left what cannot be stored":           {after(was, provision.Artifacts{State: files, Unread: []string{"large"}}), noon},
		"the next run begins":                            {before(was, provision.Up), noon},
		"the next run begins after an earlier version's": {before(earlier, provision.Up), noon.Add(time.Minute)},
		"a removal begins after an earlier version's":    {before(earlier, provision.Remove), noon.Add(time.Minute)},
		"the next run begins, and nothing is stored":     {before(&store{}, provision.Up), time.Time{}},
		"the first run begins":                           {before(nil, provision.Up), time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := test.kept.encode()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := decodeStore(&corev1.Secret{Data: data}, ""); err != nil || !got.from.Equal(test.want) {
				t.Errorf("the state is from %s (%v), want %s", got.from, err, test.want)
			}
		})
	}
}
