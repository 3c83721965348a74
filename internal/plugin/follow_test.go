// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// publish publishes what the run of a Cluster has printed, as the manager does.
func (s *stage) publish(t *testing.T, of *clusterprovisionerv1alpha1.Cluster, home, log string) {
	t.Helper()
	data, err := provision.EncodeRunning(provision.Run{ID: of.Status.LastOperation.ID, Action: provision.Up, Phase: provision.Running, Log: log})
	must(t, err)
	s.keep(t, of, home, clusterprovisionerv1alpha1.RunningSuffix, data)
}

// keep writes a ConfigMap that is kept for a Cluster.
func (s *stage) keep(t *testing.T, of *clusterprovisionerv1alpha1.Cluster, home, suffix string, data map[string]string) {
	t.Helper()
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: home, Name: of.Name + suffix, Labels: map[string]string{clusterprovisionerv1alpha1.ClusterUIDLabel: string(of.UID)},
	}}
	if !s.Get(t, kept) {
		s.Create(t, kept)
	}
	kept.Data = data
	must(t, s.Live.Update(t.Context(), kept))
}

// underWay makes a Cluster, named as its namespace, whose tool has begun a run.
func (s *stage) underWay(t *testing.T, home, run string) *clusterprovisionerv1alpha1.Cluster {
	t.Helper()
	cluster := &clusterprovisionerv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: home}, Spec: clusterprovisionerv1alpha1.ClusterSpec{
		Config: &clusterprovisionerv1alpha1.ConfigSource{Inline: "nodes: []\n"},
	}}
	s.Create(t, cluster)
	cluster.Status.LastOperation = &clusterprovisionerv1alpha1.Operation{ID: run, Action: clusterprovisionerv1alpha1.ActionUp, Stage: "joining"}
	must(t, s.Live.Status().Update(t.Context(), cluster))
	return cluster
}

// end ends the run of a Cluster, as the manager does.
func (s *stage) end(t *testing.T, of *clusterprovisionerv1alpha1.Cluster, home string, kept provision.Ended) {
	t.Helper()
	data, err := provision.History{kept}.Encode()
	must(t, err)
	s.keep(t, of, home, clusterprovisionerv1alpha1.LogSuffix, data)
	data, err = provision.EncodeRunning(provision.Run{ID: kept.ID, Phase: kept.Phase})
	must(t, err)
	s.keep(t, of, home, clusterprovisionerv1alpha1.RunningSuffix, data)
	testkit.EditStatus(t, s.Harness, of, func(of *clusterprovisionerv1alpha1.Cluster) {
		of.Status.LastOperation.EndTime = &metav1.Time{Time: time.Date(2100, 1, 2, 3, 4, 5, 0, time.UTC)}
	})
}

// followed is a command that follows a run.
type followed struct {
	out, err liveOutput
	code     chan int
}

// follows begins to follow the run of a Cluster.
func (s *stage) follows(t *testing.T, args ...string) *followed {
	t.Helper()
	f := &followed{code: make(chan int, 1)}
	of := Options{Streams: Streams{In: strings.NewReader(""), Out: &f.out, Err: &f.err}, Now: time.Now, Getenv: func(string) string { return "" }}
	go func() {
		f.code <- Execute(t.Context(), of, append([]string{"--kubeconfig", s.kubeconfig, "logs", "--follow"}, args...))
	}()
	return f
}

// TestLogsFollowLines follows a run that prints more than what is published of it at a time: each line is shown once and in its order, while
// the run is under way. Some lines are alike.
func TestLogsFollowLines(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	home := s.Namespace(t)
	cluster := s.underWay(t, home, "up-1")
	f := s.follows(t, "cluster/"+home, "--windlass-namespace", home)
	testkit.Eventually(t, "it tells the stage of a run without lines", func() bool { return strings.Contains(f.err.String(), "Up: joining") })
	var printed strings.Builder
	tail := func() string { // whole lines, as the manager has them
		text := printed.String()
		if len(text) > provision.MaxLog {
			_, text, _ = strings.Cut(text[len(text)-provision.MaxLog:], "\n")
		}
		return text
	}
	for part := range 4 {
		for i := range 250 {
			fmt.Fprintf(&printed, "part %d line %d %s\nwaiting for a node\n", part, i, strings.Repeat("x", 80))
		}
		s.publish(t, cluster, home, tail())
		testkit.Eventually(t, "its lines are shown", func() bool { return f.out.String() == printed.String() })
	}
	printed.WriteString("waiting for a node\nthe end\n")
	s.end(t, cluster, home, provision.Ended{ID: "up-1", Action: provision.Up, Phase: provision.Failed, Reason: "SSHTunnel", Log: tail()})
	if code := <-f.code; code != exitFine {
		t.Errorf("it ends with %d", code)
	}
	if diff := cmp.Diff(printed.String(), f.out.String()); diff != "" {
		t.Errorf("lines (-printed +shown):\n%s", diff)
	}
	if want := "windlass: Up: joining\nwindlass: the run up-1 has ended: Failed, SSHTunnel\n"; f.err.String() != want {
		t.Errorf("it says %q, want %q", f.err.String(), want)
	}
}

// TestLogsFollowThoughTheFirstLookFails: a run that could not be read at first counted as one that had ended.
func TestLogsFollowThoughTheFirstLookFails(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	home := s.Namespace(t)
	cluster := s.underWay(t, home, "up-1")
	s.publish(t, cluster, home, "a line\n")
	var looks atomic.Int32
	far := s.between(t, func(w http.ResponseWriter, request *http.Request) bool {
		fails := strings.HasSuffix(request.URL.Path, "/clusters/"+home) && looks.Add(1) == 2 // the first one is about whether a run is under way
		if fails {
			fail(w, apierrors.NewInternalError(errors.New("etcdserver: leader changed")))
		}
		return fails
	})
	f := far.follows(t, "cluster/"+home, "--windlass-namespace", home)
	testkit.Eventually(t, "its lines are shown, or it ends", func() bool { return f.out.String() != "" || len(f.code) > 0 })
	s.end(t, cluster, home, provision.Ended{ID: "up-1", Action: provision.Up, Phase: provision.Succeeded, Log: "a line\nthe end\n"})
	if code := <-f.code; code != exitFine || f.out.String() != "a line\nthe end\n" {
		t.Errorf("it ends with %d and %q", code, f.out.String())
	}
	has(t, f.err.String(), "cannot follow the run at present", "etcdserver: leader changed", "the run up-1 has ended: Succeeded")
}

// mayGetTheLog returns a user who can get the Cluster of that name, and the ConfigMap with the logs of its runs that have ended.
func (s *stage) mayGetTheLog(t *testing.T, name string) string {
	t.Helper()
	user := "reader-of-" + name
	to := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	group, log := clusterprovisionerv1alpha1.SchemeGroupVersion.Group, name+clusterprovisionerv1alpha1.LogSuffix
	s.Create(t,
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: []rbacv1.PolicyRule{
			{Verbs: []string{"get"}, APIGroups: []string{group}, Resources: []string{"clusters"}, ResourceNames: []string{name}},
		}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user}, Subjects: to,
		},
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: user}, Rules: []rbacv1.PolicyRule{
			{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{log}},
		}},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user}, Subjects: to,
		})
	s.awaitRight(t, user, authorizationv1.ResourceAttributes{Verb: "get", Group: group, Resource: "clusters", Name: name})
	s.awaitRight(t, user, authorizationv1.ResourceAttributes{Namespace: name, Verb: "get", Resource: "configmaps", Name: log})
	return user
}

// TestLogsFollowWithoutTheRight is about a user who can get the log of a run that has ended, as it was before there was another one.
func TestLogsFollowWithoutTheRight(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	home := s.Namespace(t)
	cluster := s.underWay(t, home, "up-1")
	user := s.mayGetTheLog(t, home)
	s.publish(t, cluster, home, "a line\n")
	f := s.follows(t, "cluster/"+home, "--windlass-namespace", home, "--as", user)
	testkit.Eventually(t, "it says what it does instead", func() bool {
		return strings.Contains(f.err.String(), "its lines come when it has ended: ") && strings.Contains(f.err.String(), "Up: joining")
	})
	if got := f.out.String(); got != "" {
		t.Errorf("it shows %q", got)
	}
	s.end(t, cluster, home, provision.Ended{ID: "up-1", Phase: provision.Succeeded, Log: "a line\nthe end\n"})
	if code := <-f.code; code != exitFine || f.out.String() != "a line\nthe end\n" {
		t.Errorf("it ends with %d: %s%s", code, f.out.String(), f.err.String())
	}
	if times := strings.Count(f.err.String(), "its lines come"); times != 1 {
		t.Errorf("it says so %d times", times)
	}
}

// TestLogsFollowEnds ends with the Cluster, and with a run that is not kept.
func TestLogsFollowEnds(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for name, c := range map[string]struct {
		end  func(cluster *clusterprovisionerv1alpha1.Cluster, home string)
		want string
	}{
		"a Cluster that goes": {func(cluster *clusterprovisionerv1alpha1.Cluster, _ string) {
			must(t, s.Live.Delete(t.Context(), cluster))
		}, "the Cluster is gone"},
		"a run that is not kept": {func(cluster *clusterprovisionerv1alpha1.Cluster, home string) {
			s.end(t, cluster, home, provision.Ended{ID: "up-9", Log: "of another run\n"})
		}, "is not kept any more"},
	} {
		home := s.Namespace(t)
		cluster := s.underWay(t, home, "up-1")
		s.publish(t, cluster, home, "before\na line\n")
		f := s.follows(t, "cluster/"+home, "--windlass-namespace", home, "--tail", "1")
		testkit.Eventually(t, name+": the line is shown", func() bool { return f.out.String() != "" })
		c.end(cluster, home)
		if code := <-f.code; code != exitFine || f.out.String() != "a line\n" || !strings.Contains(f.err.String(), c.want) {
			t.Errorf("%s: it ends with %d, %q and %q", name, code, f.out.String(), f.err.String())
		}
	}
}

// TestLogsFollowARunOfAnotherNamespace ends where the log of the run would be, because the manager keeps a log before it says that a run has
// ended.
func TestLogsFollowARunOfAnotherNamespace(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	home := s.Namespace(t)
	cluster := s.underWay(t, home, "up-1")
	f := s.follows(t, "cluster/"+home, "--windlass-namespace", home+"-else")
	testkit.Eventually(t, "it tells the stage of the run", func() bool { return strings.Contains(f.err.String(), "Up: joining") })
	s.end(t, cluster, home, provision.Ended{ID: "up-1", Action: provision.Up, Log: "a line\n"})
	code, want := <-f.code, "namespace "+home+"-else has no ConfigMap "+home+"-log: if Windlass runs in another namespace"
	if code != exitPrevented || !strings.Contains(f.err.String(), want) {
		t.Errorf("it ends with %d and %q", code, f.err.String())
	}
}
