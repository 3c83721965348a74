// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// at makes a Cluster's configuration one that is in a file of the stage.
func (s *stage) at(name string) func(*clusterprovisionerv1alpha1.Cluster) {
	return func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.ConfigPath = filepath.Join(s.dir, name) }
}

// belongs is what Stalled says of a file that is another Cluster's.
func (s *stage) belongs(name, to string) string {
	return `True ConfigPathInUse: file "` + filepath.Join(s.dir, name) + `" belongs to Cluster "` + to + `": give this Cluster a file of its own`
}

// TestWhoseFileItIs is about two Clusters whose specs name one file.
func TestWhoseFileItIs(t *testing.T) {
	t.Parallel()
	const file = "/srv/one.yml"
	in := func(path string) document { return document{[]byte(textA), path} }
	for name, test := range map[string]struct {
		// older and younger are what is stored of two Clusters that the tool has been started for, unless they are new.
		older, younger       *store
		olderNew, youngerNew bool
		want                 string
	}{
		"both are new":                                       {olderNew: true, youngerNew: true, want: "older"},
		"one of them is new":                                 {olderNew: true, younger: &store{given: in(file), applied: in(file)}, want: "younger"},
		"both were applied from the file":                    {older: &store{applied: in(file)}, younger: &store{applied: in(file)}, want: "older"},
		"the older one was applied from another":             {older: &store{applied: in("/srv/two.yml")}, younger: &store{applied: in(file)}, want: "younger"},
		"the older one was applied from none":                {older: &store{applied: in("")}, younger: &store{applied: in(file)}, want: "younger"},
		"neither was applied from the file":                  {older: &store{applied: in("/srv/two.yml")}, younger: &store{applied: in("/srv/three.yml")}, want: "older"},
		"the younger one was only given the file":            {older: &store{applied: in("/srv/two.yml")}, younger: &store{given: in(file)}, want: "younger"},
		"the older one was applied from it, and moved since": {older: &store{given: in("/srv/two.yml"), applied: in(file)}, younger: &store{applied: in(file)}, want: "older"},
		"nobody knows from which file the older one was":     {younger: &store{applied: in(file)}, want: "younger"},
		"nobody knows it of either":                          {want: "older"},
		"nobody knows it of the older one, the other is new": {youngerNew: true, want: "older"},
		"nobody knows it of the younger one, the other new":  {olderNew: true, want: "younger"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := func(name string, age time.Duration, kept *store, fresh bool) claim {
				cluster := build.Cluster(name).ConfigPath(file).Obj()
				cluster.CreationTimestamp = metav1.NewTime(noon.Add(-age))
				if !fresh {
					cluster.Status.LastOperation = &clusterprovisionerv1alpha1.Operation{ID: "up-1"}
				}
				return claim{cluster, workedOn(cluster, kept, file, "")}
			}
			older, younger := of("older", time.Hour, test.older, test.olderNew), of("younger", time.Minute, test.younger, test.youngerNew)
			got := "older"
			if younger.precedes(older) {
				got = "younger"
			}
			if got != test.want || older.precedes(younger) == younger.precedes(older) {
				t.Errorf("it belongs to the %s one, want the %s", got, test.want)
			}
		})
	}
}

// TestAClusterTakesTheFileOfAnother is about a configPath that was changed to the file of another Cluster, by mistake. The older one of both got it, and
// changed the other's machines; and when the one that was refused was deleted, its own machines ran on without a word.
func TestAClusterTakesTheFileOfAnother(t *testing.T) {
	s := newStage(t)
	keeps := s.takes()
	s.delete()
	s.gone()
	if got, last := s.calls(), "remove\n"+configText; got != "2 up, 1 remove" || !strings.HasSuffix(s.given(), last) {
		t.Errorf("the tool was called for %q, and given\n%s\nwant %q at its end", got, s.given(), last)
	}
	keeps()
}

// TestAClusterWhoseStateIsLostTakesTheFileOfAnother is the same where nothing tells any more from which file the older one was applied. It got the file of
// the other, which was known to be applied from it.
func TestAClusterWhoseStateIsLostTakesTheFileOfAnother(t *testing.T) {
	s := newStage(t)
	keeps := s.takes(func(s *stage) {
		if err := s.Live.Delete(t.Context(), s.secret(clusterprovisionerv1alpha1.StateSecretSuffix)); err != nil {
			t.Fatal(err)
		}
	})
	s.delete()
	s.becomes(status.Stalled, "True ConfigNotFound: the configuration that was applied is not known any more. Restore it"+orphanHint)
	s.settled()
	if got := s.calls(); got != "2 up" {
		t.Errorf("the tool was called for %q", got)
	}
	s.edit(s.at("cluster.yml"))
	s.gone()
	if got, last := s.calls(), "remove\n"+configText; got != "2 up, 1 remove" || !strings.HasSuffix(s.given(), last) {
		t.Errorf("the tool was called for %q, and given\n%s\nwant %q at its end", got, s.given(), last)
	}
	keeps()
}

// takes applies two Clusters from a file each, changes the first as asked, and has it name the file of the second, which is refused. The first is
// that of the stage then. It returns what holds that the second keeps its file and its machines.
func (s *stage) takes(change ...func(*stage)) (keeps func()) {
	s.t.Helper()
	s.create()
	s.ready()
	first := s.cluster
	s.file("b.yml", strings.ReplaceAll(configText, "127.0.0.1", "127.0.0.2"))
	s.create(s.at("b.yml"))
	s.ready()
	second := s.cluster
	keeps = func() {
		s.t.Helper()
		s.cluster = second
		s.settled()
		if want := s.answers(); !s.is(status.Ready, want) {
			s.t.Errorf("Ready of the second is %q, want %q", testkit.Condition(s.cluster, status.Ready), want)
		}
		s.cluster = first
	}
	s.cluster = first
	for _, c := range change {
		c(s)
	}
	s.edit(s.at("b.yml"))
	s.becomes(status.Stalled, s.belongs("b.yml", second.Name))
	keeps()
	return keeps
}

// TestTheFileThatAClusterWasAppliedFromIsTaken is about a file that was renamed, and another Cluster in its old place: the tool found the state of the first
// there, and the removal of the first replaced the second's configuration.
func TestTheFileThatAClusterWasAppliedFromIsTaken(t *testing.T) {
	other := strings.ReplaceAll(configText, "127.0.0.1", "127.0.0.2")
	s := newStage(t)
	s.create()
	s.ready()
	first := s.cluster
	s.remove("cluster.yml")
	s.file("prod.yml", configText)
	s.edit(s.at("prod.yml"))
	s.settled()
	s.file("cluster.yml", other)
	s.create()
	second, path := s.cluster, filepath.Join(s.dir, "cluster.yml")
	refused := `: file "` + path + `" belongs to Cluster "` + first.Name + `", which was applied from it: give this Cluster a file of its own`
	s.becomes(status.Stalled, "True ConfigPathInUse"+refused)
	s.settled()
	if !s.is(clusterprovisionerv1alpha1.ConditionConfigValid, "False ConfigPathInUse"+refused) || s.calls() != "1 up" {
		t.Errorf("the tool was called for %q, conditions are %v", s.calls(), s.cluster.Status.Conditions)
	}

	s.cluster = first
	s.delete()
	s.becomes(status.Stalled, `True ConfigPathInUse: file "`+path+`", from which this Cluster was applied, is that of Cluster "`+second.Name+
		`" by now: give that Cluster a file of its own`+orphanHint)
	if got, err := os.ReadFile(path); err != nil || string(got) != other || s.calls() != "1 up" {
		t.Errorf("the tool was called for %q, and the second's file is\n%s%v", s.calls(), got, err)
	}
	s.cluster = second
	s.delete()
	s.gone()
	s.cluster = first
	s.gone()
	if got, want := s.given(), "up\n"+configText+"remove\n"+configText; got != want {
		t.Errorf("the tool was given\n%s\nwant\n%s", got, want)
	}
}

// TestClustersThatAreCreatedTogetherShareAFile is about a second Cluster that is reconciled before the status says that the tool works for the first: the
// tool ran for both.
func TestClustersThatAreCreatedTogetherShareAFile(t *testing.T) {
	s := newStage(t)
	s.file("up.hangs", "")
	called := func(name string) func(*clusterprovisionerv1alpha1.Cluster) {
		return func(c *clusterprovisionerv1alpha1.Cluster) { c.GenerateName, c.Name = "", name+s.namespace }
	}
	s.create(called("b-"))
	first := s.cluster
	t.Cleanup(func() { s.end(string(first.UID)) })
	s.until("the tool runs", func() bool { return s.calls() == "1 up" })
	s.forgetStatus()
	s.create(called("a-"))
	s.becomes(status.Stalled, s.belongs("cluster.yml", first.Name))
	s.settled()
	if got := s.calls(); got != "1 up" {
		t.Errorf("the tool was called for %q", got)
	}
}
