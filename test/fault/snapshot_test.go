// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/test/rig"
)

func TestFoldersOfKeys(t *testing.T) {
	t.Parallel()
	all := versions{
		"/registry/minions/a": 1, "/registry/pods/team/x": 2, "/registry/pods/team/y": 3, "/registry/pods-of-others/team/z": 4,
		"/registry/ranges/serviceips": 5, "/registry/example.com/pods/team/x": 6,
	}
	sorted, rest := all.folders(map[string]bool{"/registry/minions": true, "/registry/pods": true, "/registry/secrets": true})
	want := map[string]versions{
		"/registry/minions": {"/registry/minions/a": 1}, "/registry/pods": {"/registry/pods/team/x": 2, "/registry/pods/team/y": 3},
	}
	if diff := cmp.Diff(want, sorted); diff != "" {
		t.Errorf("the folders differ (-want +got):\n%s", diff)
	}
	left := versions{"/registry/pods-of-others/team/z": 4, "/registry/ranges/serviceips": 5, "/registry/example.com/pods/team/x": 6}
	if diff := cmp.Diff(left, rest); diff != "" {
		t.Errorf("what is in no folder differs (-want +got):\n%s", diff)
	}
}

// TestASnapshotHasWhatWasWrittenBefore changes objects of several kinds, some of which have had no object before, and compares each snapshot
// with what the API server lists.
func TestASnapshotHasWhatWasWrittenBefore(t *testing.T) {
	t.Parallel()
	l := startBareLane(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		changeSomething(t, l, random)
		checkSnapshot(t, l, "configmaps", "poddisruptionbudgets.policy", "nodepools.nodes.lailin.xyz")
	}
	checkSnapshot(t, l)
}

// startBareLane starts an API server without controllers, which is enough for snapshots.
func startBareLane(t *testing.T) *lane {
	t.Helper()
	if testing.Short() || os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Skip("needs the API server of \"make build\", and KUBEBUILDER_ASSETS that says where it is")
	}
	programs, err := rig.FindPrograms()
	if err != nil {
		t.Fatal(err)
	}
	server := &envtest.Environment{
		CRDDirectoryPaths:        []string{filepath.Join(programs.Root, "config", "crd", "bases")},
		CRDInstallOptions:        envtest.CRDInstallOptions{MaxTime: 2 * time.Minute},
		ControlPlaneStartTimeout: 2 * time.Minute,
	}
	config, err := server.Start()
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	l := &lane{foreign: map[string]bool{}}
	if err := l.Connect(config); err != nil {
		t.Fatal(err)
	}
	if l.registry, err = connectRegistry(at(server.ControlPlane.Etcd.URL.String()), nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.registry.close(); err != nil {
			t.Error(err)
		}
	})
	if l.kinds, err = l.discover(); err != nil {
		t.Fatal(err)
	}
	return l
}

// changeSomething creates, changes or deletes one of a few objects, and an event.
func changeSomething(t *testing.T, l *lane, random *rand.Rand) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: fmt.Sprint("object-", random.IntN(3)), Namespace: metav1.NamespaceDefault}
	objects := []client.Object{
		&corev1.ConfigMap{ObjectMeta: meta}, &policyv1.PodDisruptionBudget{ObjectMeta: meta}, &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: meta.Name}},
	}
	object := objects[random.IntN(len(objects))]
	err := l.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object)
	switch {
	case client.IgnoreNotFound(err) != nil:
	case err != nil:
		err = l.Client.Create(t.Context(), object)
	case random.IntN(2) == 0:
		err = l.Client.Delete(t.Context(), object)
	default:
		object.SetLabels(map[string]string{"changed": strconv.FormatUint(random.Uint64(), 10)})
		err = l.Client.Update(t.Context(), object)
	}
	if err != nil {
		t.Fatal(err)
	}
	event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{GenerateName: "event-", Namespace: metav1.NamespaceDefault}}
	event.InvolvedObject.Namespace = metav1.NamespaceDefault
	if err := l.Client.Create(t.Context(), event); err != nil {
		t.Fatal(err)
	}
}

// checkSnapshot compares a snapshot with lists from before and after it, of these kinds or of all. What is the same in both has to be in it.
func checkSnapshot(t *testing.T, l *lane, resources ...string) {
	t.Helper()
	before := listed(t, l, resources)
	snapshot, err := l.snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	after := listed(t, l, resources)
	got := map[string]string{}
	for key, object := range snapshot {
		if resource, _, _ := strings.Cut(key, "/"); len(resources) > 0 && !slices.Contains(resources, resource) {
			continue
		}
		got[key] = object.GetResourceVersion()
	}
	for key, version := range before {
		if after[key] == version && got[key] != version {
			t.Errorf("%s has version %q in a snapshot, want %q", key, got[key], version)
		}
	}
	for key := range got {
		if before[key] == "" && after[key] == "" {
			t.Errorf("%s is in a snapshot and does not exist", key)
		}
	}
}

func listed(t *testing.T, l *lane, resources []string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, kind := range l.kinds {
		if !kind.compared || len(resources) > 0 && !slices.Contains(resources, kind.resource) {
			continue
		}
		var list metav1.PartialObjectMetadataList
		list.SetGroupVersionKind(kind.GroupVersionKind)
		if err := l.Client.List(t.Context(), &list); err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			if _, identity := list.Items[i].Labels["apiserver.kubernetes.io/identity"]; !identity {
				all[keyIn(kind.resource, &list.Items[i])] = list.Items[i].ResourceVersion
			}
		}
	}
	return all
}
