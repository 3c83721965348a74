// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
)

// credentials makes a Kubeconfig of a Cluster, and its Secret with a token.
func (s *stage) credentials(t *testing.T, name, of, token string, kind clusterprovisionerv1alpha1.KubeconfigType) *corev1.Secret {
	t.Helper()
	config := &clusterprovisionerv1alpha1.Kubeconfig{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: clusterprovisionerv1alpha1.KubeconfigSpec{
		ClusterRef: &clusterprovisionerv1alpha1.ClusterReference{Name: of}, Type: kind,
	}}
	s.Create(t, config)
	config.Status.SecretRef = &corev1.SecretReference{Namespace: of, Name: name}
	must(t, s.Live.Status().Update(t.Context(), config))
	content, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:  map[string]*clientcmdapi.Cluster{"local": {Server: "https://192.0.2.1:6443"}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"me": {Token: token}},
		Contexts:  map[string]*clientcmdapi.Context{"it": {Cluster: "local", AuthInfo: "me"}}, CurrentContext: "it",
	})
	must(t, err)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: of, Name: name, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: clusterprovisionerv1alpha1.SchemeGroupVersion.String(), Kind: "Kubeconfig", Name: name, UID: config.UID,
		}}},
		Data: map[string][]byte{clusterprovisionerv1alpha1.KubeconfigSecretKey: content},
	}
	s.Create(t, secret)
	return secret
}

func TestKubeconfig(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	name := s.Namespace(t) // also of the Cluster
	s.Create(t, &clusterprovisionerv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: clusterprovisionerv1alpha1.ClusterSpec{
		Config: &clusterprovisionerv1alpha1.ConfigSource{Inline: "nodes: []\n"},
	}})
	s.steps(t, nil, step{args: "kubeconfig " + name, code: exitPrevented, err: "has no Kubeconfig of type admin"})
	s.credentials(t, name, name, "canary-admin", clusterprovisionerv1alpha1.KubeconfigAdmin)
	s.credentials(t, name+"-a", name, "canary-a", clusterprovisionerv1alpha1.KubeconfigServiceAccountToken)
	into := filepath.Join(t.TempDir(), "folder", "config")
	merge := "kubeconfig cluster/" + name + " --merge --into " + into
	s.steps(t, nil,
		step{args: "kubeconfig " + name, out: "token: canary-admin"},
		step{args: "kubeconfig cluster/" + name + " --type token", out: "token: canary-a"},
		step{args: "kubeconfig kubeconfig/" + name + "-a", out: "token: canary-a"},
		step{args: "kubeconfig kubeconfig/" + name + "-a --type token", out: "token: canary-a"},
		step{args: "kubeconfig nothing-of-" + name, code: exitPrevented, err: "does not exist"},
		step{args: "kubeconfig " + name + " --type root", code: exitMisused, err: "--type must be admin or token"},
		step{args: "kubeconfig " + name + " --force", code: exitMisused, err: "are for --merge"},
		step{args: merge, out: `context "` + name + `" is in ` + into},
		step{args: merge, code: exitPrevented, err: "has the context \"" + name + "\" already"},
		step{args: merge + " --name other --type token", out: `context "other" is in`},
		step{args: merge + " --force --type token", out: "is in"},
	)
	merged, err := clientcmd.LoadFromFile(into)
	must(t, err)
	if merged.CurrentContext != name || merged.AuthInfos["other"].Token != "canary-a" || merged.AuthInfos[name].Token != "canary-a" || len(merged.Contexts) != 2 {
		t.Errorf("the kubeconfig has %+v", merged)
	}
	folder, err := os.ReadDir(filepath.Dir(into))
	must(t, err)
	info, err := os.Stat(into)
	must(t, err)
	if len(folder) != 1 || info.Mode().Perm() != 0o600 {
		t.Errorf("the folder has %v, and the mode is %s", folder, info.Mode())
	}
	must(t, os.WriteFile(into+".lock", nil, 0o600))
	s.steps(t, nil, step{args: merge + " --name third", code: exitPrevented, err: "another program is changing kubeconfig"})
	s.credentials(t, name+"-b", name, "canary-b", clusterprovisionerv1alpha1.KubeconfigServiceAccountToken)
	s.steps(t, nil, step{args: "kubeconfig " + name + " --type token", code: exitMisused, err: "kubeconfig/" + name + "-a, kubeconfig/" + name + "-b"})
}

// TestATypeThatIsAskedForIsNotThatOfTheKubeconfig: with --type token, the credentials of an administrator were printed, or merged.
func TestATypeThatIsAskedForIsNotThatOfTheKubeconfig(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	name := s.Namespace(t) // also of the Cluster
	s.credentials(t, name, name, "canary-admin", clusterprovisionerv1alpha1.KubeconfigAdmin)
	s.credentials(t, name+"-a", name, "canary-a", clusterprovisionerv1alpha1.KubeconfigServiceAccountToken)
	for args, want := range map[string]string{
		name + " --type token":                              `kubeconfig "` + name + `" is of type admin: leave --type out, or give another Kubeconfig`,
		name + " --type token --merge --into " + missing(t): `kubeconfig "` + name + `" is of type admin`,
		name + "-a --type admin":                            `kubeconfig "` + name + `-a" is of type token`,
	} {
		got := s.run(t, strings.Fields("kubeconfig kubeconfig/"+args)...)
		if got.code != exitMisused || !strings.Contains(got.err, want) || got.out != "" {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

// TestAMergeRedirectsContextsOfAnotherFile: kubectl takes an entry from the first of its files that has the name, and a context of the second one
// led to the new cluster.
func TestAMergeRedirectsContextsOfAnotherFile(t *testing.T) {
	s := newStage(t)
	name := s.Namespace(t) // also of the Cluster
	s.Create(t, &clusterprovisionerv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: clusterprovisionerv1alpha1.ClusterSpec{
		Config: &clusterprovisionerv1alpha1.ConfigSource{Inline: "nodes: []\n"},
	}})
	s.credentials(t, name, name, "canary-new", clusterprovisionerv1alpha1.KubeconfigAdmin)
	folder := t.TempDir()
	second, absent := filepath.Join(folder, "second"), filepath.Join(folder, "absent")
	must(t, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:  map[string]*clientcmdapi.Cluster{name: {Server: "https://198.51.100.9:6443"}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"operator": {Token: "old"}},
		Contexts:  map[string]*clientcmdapi.Context{"production": {Cluster: name, AuthInfo: "operator"}},
	}, second))
	t.Setenv("KUBECONFIG", strings.Join([]string{absent, s.kubeconfig, "", second}, string(os.PathListSeparator)))
	used := func() string {
		t.Helper()
		config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(),
			&clientcmd.ConfigOverrides{CurrentContext: "production"}).ClientConfig()
		must(t, err)
		return config.Host
	}
	refused := second + " has the cluster \"" + name + "\" already: give another --name, or --force to replace it"
	for _, where := range []string{"", " --into " + absent, " --into " + s.kubeconfig, " --kubeconfig " + s.kubeconfig} {
		got := run(t, options{}, strings.Fields("kubeconfig "+name+" --merge"+where)...)
		if got.code != exitPrevented || !strings.Contains(got.err, refused) || used() != "https://198.51.100.9:6443" {
			t.Errorf("%q: %+v, and production leads to %s", where, got, used())
		}
	}
	// A file that kubectl does not read is a matter of its own, and a new one does not decide which context is used.
	for _, args := range []string{"--into " + filepath.Join(folder, "alone"), "--name other --into " + absent, "--force"} {
		if got := run(t, options{}, strings.Fields("kubeconfig "+name+" --merge "+args)...); got.code != exitFine {
			t.Errorf("%s: %+v", args, got)
		}
	}
	whole, err := clientcmd.NewDefaultClientConfigLoadingRules().Load()
	must(t, err)
	if whole.CurrentContext != "test" || whole.Contexts["other"] == nil || used() != "https://192.0.2.1:6443" {
		t.Errorf("the context is %q of %v, and production leads to %s", whole.CurrentContext, whole.Contexts, used())
	}
}

// TestAttackKubeconfigOfAnother: a status that names a Secret of somebody else gives nothing away, and a merge prints no token.
func TestAttackKubeconfigOfAnother(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	name := s.Namespace(t)
	s.Create(t, &clusterprovisionerv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: clusterprovisionerv1alpha1.ClusterSpec{
		Config: &clusterprovisionerv1alpha1.ConfigSource{Inline: "nodes: []\n"},
	}})
	secret := s.credentials(t, name, name, "canary-token", clusterprovisionerv1alpha1.KubeconfigAdmin)
	into := filepath.Join(t.TempDir(), "config")
	got := s.run(t, "kubeconfig", name, "--merge", "--into", into)
	if got.code != exitFine || strings.Contains(got.out+got.err, "canary") {
		t.Errorf("a merge prints %+v", got)
	}
	program := slices.Clone(secret.Data[clusterprovisionerv1alpha1.KubeconfigSecretKey])
	secret.Data[clusterprovisionerv1alpha1.KubeconfigSecretKey] = []byte(strings.Replace(string(program), "token: canary-token",
		"exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/false, interactiveMode: Never}", 1))
	must(t, s.Live.Update(t.Context(), secret))
	s.steps(t, nil, step{args: "kubeconfig " + name, code: exitPrevented, err: "it runs a program"})
	secret.Data[clusterprovisionerv1alpha1.KubeconfigSecretKey], secret.OwnerReferences = program, nil
	must(t, s.Live.Update(t.Context(), secret))
	foreign := s.run(t, "kubeconfig", name)
	if foreign.code != exitPrevented || strings.Contains(foreign.out+foreign.err, "canary") {
		t.Errorf("a Secret that was not written for it gives %+v", foreign)
	}
	has(t, foreign.err, "was not written for this Kubeconfig")
}
