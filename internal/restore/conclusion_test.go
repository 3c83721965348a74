// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/windlass-operator/windlass/internal/testkit"
)

// backupOf reads a backup.
func backupOf(t *testing.T, documents ...string) []*unstructured.Unstructured {
	t.Helper()
	out, err := Read(strings.NewReader(strings.Join(documents, "\n---\n")))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func system(uid string) string {
	return "{apiVersion: v1, kind: Namespace, metadata: {name: kube-system, uid: " + uid + "}}"
}

// With the namespace of the managers forgotten, a second restore named the cluster in between, whose UID no machine has.
func TestInstallationOfABackup(t *testing.T) {
	t.Parallel()
	const restored = "{apiVersion: cloudnative.tw/v1alpha1, kind: VirtualMachine, metadata: {name: a, namespace: b}, status: {server: {uid: u}}}"
	noted := func(namespace string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: windlass-installation, namespace: " + namespace + "}, data: {uid: first}}"
	}
	for name, test := range map[string]struct {
		backup        []string
		want, unknown string
	}{
		"a cluster has the UID of its kube-system":                    {backup: []string{system("one")}, want: "one"},
		"a restored cluster has that of the first one":                {backup: []string{system("second"), restored, noted("home")}, want: "first"},
		"the first one is not forgotten without kube-system":          {backup: []string{noted("home")}, want: "first"},
		"what others write in their namespaces does not count":        {backup: []string{noted("team"), restored, noted("home")}, want: "first"},
		"what others write does not count where it changes nothing":   {backup: []string{system("first"), noted("team")}, want: "first"},
		"the managers may have run in another namespace":              {backup: []string{system("one"), noted("team")}, unknown: "--lease-lock-namespace=team"},
		"a restored cluster without a note is not taken for a first":  {backup: []string{system("second"), restored}, unknown: "was restored itself"},
		"a backup without kube-system does not say what it is one of": {unknown: "does not have the Namespace kube-system"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, unknown := installationOf(backupOf(t, test.backup...), "home")
			if got != test.want || got == "" && !strings.Contains(unknown, test.unknown) {
				t.Errorf("the installation is %q (%s), want %q (%s)", got, unknown, test.want, test.unknown)
			}
		})
	}
}

// The second restore named the cluster in between, whose UID no machine has: each machine would have been made a second time.
func TestTheSecondRestoreContinuesTheFirstInstallation(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	restorer := newRestorer(h, h.Namespace(t))
	restore := func(backup []*unstructured.Unstructured) {
		t.Helper()
		var out bytes.Buffer
		restorer.Out = &out
		if err := restorer.Restore(t.Context(), backup); err != nil {
			t.Fatal(err)
		}
		if want := "Start the manager with --installation=first,"; !strings.Contains(out.String(), want) {
			t.Errorf("the restore does not say %q:\n%s", want, out.String())
		}
	}
	restore(backupOf(t, system("first")))
	noted := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	if err := h.Live.Get(t.Context(), restorer.note(), noted); err != nil {
		t.Fatal(err)
	}
	if err := h.Live.Delete(t.Context(), noted.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	restore(append(backupOf(t, system("second")), noted))
	err := restorer.Restore(t.Context(), backupOf(t, system("another")))
	if want := "cannot restore the installation another: this cluster continues first already"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a backup of another installation: %v, want %q", err, want)
	}
}

// Karpenter has NodePools as well: "kubectl get nodepools" can have saved those.
func TestWhatIsLeftOutIsNamed(t *testing.T) {
	t.Parallel()
	const theirs, ours = "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}}", "{apiVersion: nodes.lailin.xyz/v1, kind: NodePool, metadata: {name: a}}"
	left := "Objects of the kind NodePool.karpenter.sh are left out: they do not belong to Windlass."
	missing := "The backup has no nodepools.nodes.lailin.xyz. If the cluster had some, save them under this name."
	for name, test := range map[string]struct {
		backup, want []string
	}{
		"pools of others are named once":  {[]string{theirs, theirs}, []string{left, missing}},
		"pools are there":                 {[]string{ours, "{apiVersion: v1, kind: Node, metadata: {name: a}}"}, nil},
		"pools are there and theirs, too": {[]string{theirs, ours}, []string{left}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, leftOut(backupOf(t, test.backup...))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
