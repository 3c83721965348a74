// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func openStore(t *testing.T) *Store {
	t.Helper()
	store, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// newState makes the directory that a state is saved in.
func newState(t *testing.T, store *Store, name string) State {
	t.Helper()
	if err := os.MkdirAll(store.clusterDir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	return State{Name: name}
}

func TestValidateName(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		name string
		ok   bool
	}{
		"a label is a name":                     {"dev-1", true},
		"capitals are refused":                  {"Dev", false},
		"a path is refused":                     {"../x", false},
		"nothing is refused":                    {"", false},
		"what is too long to add to is refused": {strings.Repeat("x", maxName+1), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := ValidateName(test.name); (err == nil) != test.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	want := newState(t, store, "dev")
	want.Version, want.Config, want.Ports, want.Nodes, want.Complete = "v1", "/a/cluster.yml", portsOfBlock(7), 3, true
	want.Kubeconfigs = []string{"/a/kube_config_cluster.yml"}
	if err := store.save(want); err != nil {
		t.Fatal(err)
	}
	got, err := store.load("dev")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if name, found, err := store.FindByConfig("/a/cluster.yml"); name != "dev" || !found || err != nil {
		t.Errorf("FindByConfig: got %q, %v, %v", name, found, err)
	}
	if _, found, err := store.FindByConfig("/b/cluster.yml"); found || err != nil {
		t.Errorf("FindByConfig of another file: got %v, %v", found, err)
	}
	if _, err := store.load("other"); !errors.Is(err, ErrNotFound) {
		t.Errorf("load of what is not there: got %v", err)
	}
}

func TestDamagedStateIsListedAndDeleted(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	newState(t, store, "dev")
	if err := os.WriteFile(store.statePath("dev"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Up(t.Context(), Request{Name: "dev"}); err == nil || !strings.Contains(err.Error(), "devcluster down --name dev") {
		t.Errorf("up: got %v", err)
	}
	list, err := store.List(t.Context())
	if err != nil || len(list) != 1 || list[0].State != Unreadable {
		t.Errorf("list: got %+v, %v", list, err)
	}
	if found, err := store.Delete(t.Context(), "dev"); !found || err != nil {
		t.Errorf("delete: got %v, %v", found, err)
	}
	if found, err := store.Delete(t.Context(), "dev"); found || err != nil {
		t.Errorf("second delete: got %v, %v", found, err)
	}
}

func TestClusterIsNotDeletedWithoutItsRecords(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	if err := store.save(newState(t, store, "dev")); err != nil {
		t.Fatal(err)
	}
	// Nobody can read a directory as a file, not even root.
	if err := os.MkdirAll(store.cluster(State{Name: "dev"}).recordPath(etcd), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Delete(t.Context(), "dev"); err == nil || !strings.Contains(err.Error(), etcd) {
		t.Errorf("delete: got %v", err)
	}
	if _, err := store.load("dev"); err != nil {
		t.Errorf("the state after delete: %v", err)
	}
}

func TestClusterOfAnotherUserIsNotDeleted(t *testing.T) {
	t.Parallel()
	tests := map[string]func(store *Store) string{
		"by its state":  func(store *Store) string { return store.statePath("dev") },
		"by its record": func(store *Store) string { return store.cluster(State{Name: "dev"}).recordPath(etcd) },
	}
	for name, path := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := openStore(t)
			if err := store.save(newState(t, store, "dev")); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(path(store)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path(store), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			defer hideFrom(t, store, path(store))()
			if _, err := store.Delete(t.Context(), "dev"); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), path(store)+" belongs to ") {
				t.Errorf("delete: got %v", err)
			}
			if _, err := os.Stat(path(store)); err != nil {
				t.Errorf("after delete: %v", err)
			}
		})
	}
}

func TestClusterOfAFileIsNotSaidToBeMissingWhereAStateIsHidden(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	for _, name := range []string{"hidden", "mine"} {
		state := newState(t, store, name)
		state.Config = "/" + name
		if err := store.save(state); err != nil {
			t.Fatal(err)
		}
	}
	defer hideFrom(t, store, store.statePath("hidden"))()
	if _, found, err := store.FindByConfig("/hidden"); found || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a hidden state: got %v, %v", found, err)
	}
	if name, found, err := store.FindByConfig("/mine"); name != "mine" || !found || err != nil {
		t.Errorf("a state beside it: got %q, %v, %v", name, found, err)
	}
}

func TestSameOrigin(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		state   State
		request Request
		want    string
	}{
		"a new cluster has none":                     {State{}, Request{Config: "/a"}, ""},
		"the same file":                              {State{Config: "/a", Complete: true}, Request{Config: "/a"}, ""},
		"a half-made cluster is made anew by anyone": {State{Config: "/a"}, Request{Config: "/b"}, ""},
		"another file with the same cluster_name":    {State{Name: "x", Config: "/a", Complete: true}, Request{Config: "/b"}, "another cluster_name"},
		"a file with the name of a cluster made by name": {
			State{Name: "x", Complete: true}, Request{Config: "/b"}, "devcluster down --name x",
		},
		"a name that a file's cluster has": {
			State{Name: "x", Config: "/a", Complete: true}, Request{}, "devcluster up --config /a",
		},
		"its controllers again":            {State{Controllers: "a,b", Complete: true}, Request{Controllers: "a,b"}, ""},
		"no controllers keep what it has":  {State{Controllers: "a,b", Complete: true}, Request{}, ""},
		"other controllers":                {State{Name: "x", Controllers: "a,b", Complete: true}, Request{Controllers: "a"}, `--controllers="a,b"`},
		"all controllers where it has all": {State{Complete: true}, Request{Controllers: "*"}, ""},
		"controllers where it has all":     {State{Name: "x", Complete: true}, Request{Controllers: "a"}, `--controllers="*"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := sameOrigin(test.state, test.request)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestLockIsWaitedForAndInterruptible(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	held, err := store.lockCluster(t.Context(), "dev")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.lockCluster(ctx, "dev"); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled wait: got %v", err)
	}
	got := make(chan error, 1)
	go func() {
		second, err := store.lockCluster(t.Context(), "dev")
		if err == nil {
			second.release()
		}
		got <- err
	}()
	held.remove()
	if err := <-got; err != nil {
		t.Errorf("after the first holder removed the file: got %v", err)
	}
}
