// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestOnlyTheControllersThatWereAskedForRun tells them by what they write into a namespace.
func TestOnlyTheControllersThatWereAskedForRun(t *testing.T) {
	s := newSandbox(t)
	for _, without := range []string{"namespace-controller", "*,-serviceaccount-controller"} {
		if _, stderr, code := s.run("up", "--name", "few", "--controllers", without); code != 2 || !strings.Contains(stderr, "serviceaccount-controller") {
			t.Errorf("up with the controllers %s: got %d, %q", without, code, stderr)
		}
	}
	const few = "serviceaccount-controller,namespace-controller"
	s.up("--name", "few", "--controllers", few)
	if _, stderr, code := s.run("up", "--name", "few", "--controllers", "*"); code != 1 || !strings.Contains(stderr, few) {
		t.Errorf("up with other controllers: got %d, %q", code, stderr)
	}
	s.must("stop", "--name", "few")
	client, _ := s.up("--name", "few")
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "new"}}
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.eventually("the namespace has its account", func() bool {
		_, err := client.CoreV1().ServiceAccounts("new").Get(t.Context(), "default", metav1.GetOptions{})
		return err == nil
	})
	if got, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{}); err == nil {
		t.Errorf("root-ca-certificate-publisher-controller has written %s", got.Name)
	}
	s.must("down", "--name", "few")
}
