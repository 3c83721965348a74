// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// noon is the time of the plans.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// situation is what the planner is asked about.
type situation struct {
	config *clusterprovisionerv1alpha1.Kubeconfig
	seen   observation
}

// change changes a situation.
type change func(*situation)

// given returns a Kubeconfig of a Cluster whose tool has written one, changed as asked. Its Secret has not been written.
func given(changes ...change) situation {
	s := situation{
		config: &clusterprovisionerv1alpha1.Kubeconfig{
			ObjectMeta: metav1.ObjectMeta{Name: "way", UID: "u"},
			Spec:       clusterprovisionerv1alpha1.KubeconfigSpec{ClusterRef: &clusterprovisionerv1alpha1.ClusterReference{Name: "one"}},
		},
		seen: observation{
			cluster: build.Cluster("one").Obj(), admin: leadingTo("https://127.0.0.1:1"),
			ref: corev1.SecretReference{Namespace: "windlass-system", Name: "way-kubeconfig"},
		},
	}
	for _, c := range changes {
		c(&s)
	}
	return s
}

// leadingTo returns a kubeconfig for the server, changed as asked.
func leadingTo(server string, changes ...func(*clientcmdapi.Cluster)) []byte {
	cluster := &clientcmdapi.Cluster{Server: server}
	for _, change := range changes {
		change(cluster)
	}
	raw, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": cluster},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {Token: "t"}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	})
	if err != nil {
		panic(err)
	}
	return raw
}

// holds makes the Secret one that was written for this object, with the kubeconfig.
func holds(kubeconfig []byte) change {
	return func(s *situation) {
		s.seen.secret = &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Labels: labelsOf(s.config)},
			Data:       map[string][]byte{clusterprovisionerv1alpha1.KubeconfigSecretKey: kubeconfig},
		}
	}
}

// issued makes the Secret one with a token of an hour that was issued some time ago, for what the object asks for.
func issued(ago time.Duration) change {
	return func(s *situation) {
		holds(append(leadingTo("https://127.0.0.1:1"), "# with a token\n"...))(s)
		noting(s)
		s.seen.secret.Annotations = annotationsOf(s.config, noon.Add(-ago), grant{noon.Add(time.Hour - ago), time.Hour})
	}
}

// expiring lets the token expire then by the clock of the cluster.
func expiring(in time.Duration) change {
	return func(s *situation) {
		s.seen.secret.Annotations[annotationExpires] = noon.Add(in).UTC().Format(time.RFC3339)
	}
}

func tokenOf(s *situation) { token(s.config) }

func foreign(s *situation) { s.seen.secret = &corev1.Secret{} }

func formerly(s *situation) {
	s.seen.former = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Labels: labelsOf(s.config)}}
}

func shared(s *situation) { s.seen.shared = true }

func adminOf(s *situation) { admin(s.config) }

// noting lets the status tell of the token, as it does before that is issued.
func noting(s *situation) {
	s.config.Status.ServiceAccount, s.config.Status.ClusterName = accountOf(s.config), clusterOf(s.config)
}

func recorded(s *situation) { s.config.Status.ServiceAccount = "windlass-way" }

func finalized(s *situation) {
	s.config.Finalizers = []string{clusterprovisionerv1alpha1.KubeconfigFinalizer}
}

// toTwo lets the spec name another cluster, which exists. The one before is gone, unless known or answering bring it back.
func toTwo(s *situation) { s.config.Spec.ClusterRef.Name = "two" }

func known(s *situation) { s.seen.issuer = build.Cluster("one").Obj() }

func answering(s *situation) { known(s); s.seen.issuerAdmin = leadingTo("https://127.0.0.1:1") }

// elsewhere lets the spec name another Secret, which has not been written.
func elsewhere(s *situation) { s.seen.former, s.seen.secret = s.seen.secret, nil }

func deleted(s *situation) { s.config.DeletionTimestamp = new(metav1.NewTime(noon)) }

func withoutCluster(s *situation) { s.seen.cluster, s.seen.admin = nil, nil }

// removing has the Cluster be deleted, too.
func removing(policy clusterprovisionerv1alpha1.DeletionPolicy) change {
	return func(s *situation) {
		s.seen.cluster.DeletionTimestamp, s.seen.cluster.Spec.DeletionPolicy = new(metav1.NewTime(noon)), policy
	}
}

func withoutKubeconfig(s *situation) { s.seen.admin = nil }

// edited lets the Secret hold that kubeconfig. The others are of the same server, and lead to a former cluster of that address.
func edited(kubeconfig []byte) change {
	return func(s *situation) { s.seen.secret.Data[clusterprovisionerv1alpha1.KubeconfigSecretKey] = kubeconfig }
}

func authority(text string) change {
	return edited(leadingTo("https://127.0.0.1:1", func(c *clientcmdapi.Cluster) { c.CertificateAuthorityData = []byte(text) }))
}

func named(server string) change {
	return edited(leadingTo("https://127.0.0.1:1", func(c *clientcmdapi.Cluster) { c.TLSServerName = server }))
}

func proxied(s *situation) {
	edited(leadingTo("https://127.0.0.1:1", func(c *clientcmdapi.Cluster) { c.ProxyURL = "http://127.0.0.1:2" }))(s)
}

func unverified(s *situation) {
	edited(leadingTo("https://127.0.0.1:1", func(c *clientcmdapi.Cluster) { c.InsecureSkipTLSVerify = true }))(s)
}

func annotated(key string) change {
	return func(s *situation) { s.config.Annotations = map[string]string{key: "true"} }
}

func TestPlan(t *testing.T) {
	t.Parallel()
	paused := flow.Wait(status.ReasonPaused, "the annotation windlass.io/paused to be removed", 0)
	first := leadingTo("https://127.0.0.1:1")
	unrevoked := flow.Wait(clusterprovisionerv1alpha1.ReasonClusterNotReady, `Cluster "one" to have a kubeconfig, so that the token can be `+
		"revoked; to delete this Kubeconfig anyway, annotate it with clusterprovisioner.rke.io/skip-revocation=true", 15*time.Second)
	unrevokedYet := flow.Wait(clusterprovisionerv1alpha1.ReasonClusterNotReady, `Cluster "one" to have a kubeconfig, so that the token can be `+
		"revoked; to go on without that, annotate this Kubeconfig with clusterprovisioner.rke.io/skip-revocation=true", 15*time.Second)
	unreadable := flow.Wait(clusterprovisionerv1alpha1.ReasonClusterNotReady, `Cluster "one" to have a kubeconfig that Windlass may read, so that the token can `+
		"be revoked; to go on without that, annotate this Kubeconfig with clusterprovisioner.rke.io/skip-revocation=true. Windlass may not", 15*time.Second)
	toMake := func(account, cluster string) flow.Outcome {
		return flow.Wait(clusterprovisionerv1alpha1.ReasonClusterNotReady, fmt.Sprintf("ServiceAccount %q to be made in Cluster %q", account, cluster), soon)
	}
	noTwo := flow.Wait(clusterprovisionerv1alpha1.ReasonClusterNotFound, `Cluster "two" to be created`, 0)
	for name, test := range map[string]struct {
		given situation
		want  decision
	}{
		"a copy is written":                      {given(), decision{write: first}},
		"a copy that is right stays":             {given(holds(first)), decision{}},
		"a copy that somebody edited is written": {given(holds([]byte("edited"))), decision{write: first}},
		"the Cluster's own Secret is left to it": {given(shared), decision{}},
		"a foreign Secret is left alone": {given(foreign), decision{outcome: flow.Stall(clusterprovisionerv1alpha1.ReasonSecretConflict,
			errors.New("the Secret windlass-system/way-kubeconfig exists and does not belong to this Kubeconfig: "+
				"delete it, or name another in spec.writeSecretToRef"))}},
		"a copy that goes elsewhere now is written, then dropped where it was": {given(formerly), decision{write: first, drop: true}},
		"a copy that went elsewhere is dropped where it was":                   {given(holds(first), formerly), decision{drop: true}},
		"a paused copy is not dropped where it was":                            {given(holds(first), formerly, annotated(status.PausedAnnotation)), decision{outcome: paused}},
		"a copy stays where it was until its Cluster can be asked": {given(formerly, withoutKubeconfig), decision{
			outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonClusterNotReady, `Cluster "one" to have a kubeconfig`, 0),
		}},
		"a paused copy waits": {given(annotated(status.PausedAnnotation)), decision{outcome: paused}},
		"a Cluster that does not exist is waited for": {given(withoutCluster), decision{
			outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonClusterNotFound, `Cluster "one" to be created`, 0),
		}},
		"a Cluster without a kubeconfig is waited for": {given(withoutKubeconfig), decision{
			outcome: flow.Wait(clusterprovisionerv1alpha1.ReasonClusterNotReady, `Cluster "one" to have a kubeconfig`, 0),
		}},
		"a spec that names no kubeconfig says what is missing": {
			given(withoutKubeconfig, func(s *situation) { s.config.Spec.ClusterRef, s.seen.cluster = nil, nil }),
			decision{outcome: flow.Stall(clusterprovisionerv1alpha1.ReasonKubeconfigMissing,
				errors.New("spec names no kubeconfig: give spec.clusterRef or spec.configPath"))},
		},
		"a file outside of the root is refused": {
			given(withoutKubeconfig, func(s *situation) {
				s.config.Spec.ClusterRef, s.config.Spec.ConfigPath, s.seen.outside = nil, "/etc/shadow", true
			}),
			decision{outcome: flow.Stall(clusterprovisionerv1alpha1.ReasonConfigPathRefused,
				errors.New(`file "/etc/shadow" is outside of the directory that --config-root allows`))},
		},
		"a Secret that may not be read is left alone": {given(func(s *situation) { s.seen.forbidden = errors.New("no") }), decision{
			outcome: flow.Stall(clusterprovisionerv1alpha1.ReasonSecretForbidden, errors.New("no")),
		}},
		"a Cluster's Secret that may not be read is told of": {
			given(withoutKubeconfig, func(s *situation) { s.seen.adminForbidden = errors.New("no") }),
			decision{outcome: flow.Stall(clusterprovisionerv1alpha1.ReasonSecretForbidden, errors.New("no"))},
		},
		"a deleted token whose Secret may not be read is revoked": {
			given(tokenOf, noting, deleted, func(s *situation) { s.seen.forbidden = errors.New("no") }), decision{revoke: true, release: true},
		},
		"a token is noted before it is issued":                                  {given(tokenOf), decision{note: true, outcome: toMake("windlass-way", "one")}},
		"a token that is noted for another cluster is noted anew":               {given(tokenOf, noting, toTwo), decision{forget: true, lost: true, note: true, outcome: toMake("windlass-way", "two")}},
		"a token that is noted is issued":                                       {given(tokenOf, noting), decision{issue: true}},
		"a paused token is not noted":                                           {given(tokenOf, annotated(status.PausedAnnotation)), decision{outcome: paused}},
		"a token in the first two thirds of life stays":                         {given(tokenOf, issued(39*time.Minute)), decision{}},
		"a token in the last third of life is renewed":                          {given(tokenOf, issued(40*time.Minute)), decision{issue: true}},
		"a token of a cluster whose clock is an hour behind ours stays":         {given(tokenOf, issued(0), expiring(0)), decision{}},
		"a token of a cluster whose clock is an hour behind is renewed in time": {given(tokenOf, issued(40*time.Minute), expiring(-40*time.Minute)), decision{issue: true}},
		"a token of a cluster whose clock is an hour ahead is renewed in time":  {given(tokenOf, issued(40*time.Minute), expiring(80*time.Minute)), decision{issue: true}},
		"a token that was issued in an hour, as it seems, is renewed":           {given(tokenOf, issued(-time.Hour)), decision{issue: true}},
		"a token of a former version is renewed as it was": {given(tokenOf, issued(40*time.Minute), func(s *situation) {
			delete(s.seen.secret.Annotations, annotationLife)
		}), decision{issue: true}},
		"a token that says nothing of itself is renewed": {given(tokenOf, noting, holds(first)), decision{issue: true}},
		"a token that the cluster rejects is replaced":   {given(tokenOf, issued(0), func(s *situation) { s.seen.rejected = true }), decision{issue: true}},
		"a token that has lost its role is replaced":     {given(tokenOf, issued(0), func(s *situation) { s.seen.unbound = true }), decision{issue: true}},
		"a token for another role is replaced":           {given(tokenOf, issued(0), func(s *situation) { s.config.Spec.ClusterRole = "edit" }), decision{issue: true}},
		"a token for another ServiceAccount is revoked and replaced": {
			given(tokenOf, issued(0), func(s *situation) { s.config.Spec.ServiceAccount = "b" }),
			decision{revoke: true, forget: true, note: true, outcome: toMake("b", "one")},
		},
		"a token for a cluster that has moved is replaced":                        {given(tokenOf, issued(0), edited(leadingTo("https://127.0.0.1:2"))), decision{issue: true}},
		"a token for a cluster that is where it was is kept":                      {given(tokenOf, issued(0), edited(first)), decision{}},
		"a token in a Secret that nobody can read is replaced":                    {given(tokenOf, issued(0), edited([]byte("edited"))), decision{issue: true}},
		"a token in a Secret that is empty is replaced":                           {given(tokenOf, issued(0), edited(nil)), decision{issue: true}},
		"a token for a cluster with another authority is replaced":                {given(tokenOf, issued(0), authority("former")), decision{issue: true}},
		"a token for a cluster with another server name is replaced":              {given(tokenOf, issued(0), named("former")), decision{issue: true}},
		"a token for a cluster that was behind a proxy is replaced":               {given(tokenOf, issued(0), proxied), decision{issue: true}},
		"a token for a cluster that was not verified is replaced":                 {given(tokenOf, issued(0), unverified), decision{issue: true}},
		"a paused token is not renewed":                                           {given(tokenOf, issued(time.Hour), annotated(status.PausedAnnotation)), decision{outcome: paused}},
		"a token is revoked before an admin's kubeconfig is handed out":           {given(tokenOf, issued(0), adminOf), decision{revoke: true, forget: true, write: first}},
		"so it is when only the status tells of it":                               {given(adminOf, recorded), decision{revoke: true, forget: true, write: first}},
		"so it is when only the finalizer tells that there may be one":            {given(adminOf, finalized), decision{revoke: true, forget: true, write: first}},
		"a paused token is not revoked":                                           {given(tokenOf, issued(0), adminOf, annotated(status.PausedAnnotation)), decision{outcome: paused}},
		"a token of a former cluster is revoked before another is issued":         {given(tokenOf, issued(0), toTwo, answering), decision{revoke: true, forget: true, note: true, outcome: toMake("windlass-way", "two")}},
		"a token of a former cluster waits for what revokes it":                   {given(tokenOf, issued(0), toTwo, known), decision{outcome: unrevokedYet}},
		"a token of a former cluster waits for the right to revoke it":            {given(tokenOf, issued(0), toTwo, known, func(s *situation) { s.seen.issuerForbidden = errors.New("Windlass may not") }), decision{outcome: unreadable}},
		"a token of a former cluster that a person gives up is replaced":          {given(tokenOf, issued(0), toTwo, known, annotated(clusterprovisionerv1alpha1.SkipRevocationAnnotation)), decision{forget: true, note: true, outcome: toMake("windlass-way", "two")}},
		"a token of a former cluster that is gone is replaced":                    {given(tokenOf, issued(0), toTwo), decision{forget: true, lost: true, note: true, outcome: toMake("windlass-way", "two")}},
		"a token of a former cluster is revoked before the next is there":         {given(tokenOf, issued(0), toTwo, answering, withoutCluster), decision{revoke: true, forget: true, outcome: noTwo}},
		"a token in a former Secret is revoked in the cluster it is of":           {given(tokenOf, issued(0), elsewhere, toTwo, known), decision{outcome: unrevokedYet}},
		"a deleted token that became an admin's kubeconfig is revoked":            {given(tokenOf, issued(0), adminOf, deleted), decision{revoke: true, release: true}},
		"a deleted token of a former cluster is revoked there":                    {given(tokenOf, issued(0), toTwo, answering, withoutCluster, deleted), decision{revoke: true, release: true}},
		"a deleted token of a former cluster waits for what revokes it":           {given(tokenOf, issued(0), toTwo, known, deleted), decision{outcome: unrevoked}},
		"a deleted copy revokes nothing":                                          {given(deleted), decision{release: true}},
		"a deleted token is revoked":                                              {given(tokenOf, deleted), decision{revoke: true, release: true}},
		"a deleted token that was issued in a gone cluster is let go with a word": {given(tokenOf, issued(0), deleted, withoutCluster), decision{release: true, lost: true}},
		"a deleted token that a person gave up needs no word":                     {given(tokenOf, issued(0), deleted, withoutCluster, annotated(clusterprovisionerv1alpha1.SkipRevocationAnnotation)), decision{release: true}},
		"a deleted token in a cluster that the tool removes is revoked, once":     {given(tokenOf, issued(0), deleted, removing("")), decision{revoke: true, once: true, release: true}},
		"so is one for another ServiceAccount, before that is made": {
			given(tokenOf, issued(0), removing(""), func(s *situation) { s.config.Spec.ServiceAccount = "b" }),
			decision{revoke: true, once: true, forget: true, note: true, outcome: toMake("b", "one")},
		},
		"a deleted token in one without a kubeconfig is let go with a word": {given(tokenOf, issued(0), deleted, removing(""), withoutKubeconfig), decision{release: true, lost: true}},
		"a deleted token in one that a person gave up needs no word": {given(tokenOf, issued(0), deleted, removing(""), withoutKubeconfig,
			annotated(clusterprovisionerv1alpha1.SkipRevocationAnnotation)), decision{release: true}},
		"a deleted token that was never issued in one needs no word":     {given(tokenOf, deleted, removing(""), withoutKubeconfig), decision{release: true}},
		"a deleted token in a cluster that is left as it is, is revoked": {given(tokenOf, issued(0), deleted, removing(clusterprovisionerv1alpha1.DeletionOrphan)), decision{revoke: true, release: true}},
		"a deleted token of a gone cluster is let go":                    {given(tokenOf, deleted, withoutCluster), decision{release: true}},
		"a deleted token that was never issued is let go":                {given(tokenOf, deleted, withoutKubeconfig), decision{release: true}},
		"a deleted token waits for what revokes it":                      {given(tokenOf, issued(0), deleted, withoutKubeconfig), decision{outcome: unrevoked}},
		"so it does when its Secret is gone, too": {given(tokenOf, deleted, withoutKubeconfig, func(s *situation) {
			s.config.Status.ServiceAccount = "windlass-way"
		}), decision{outcome: unrevoked}},
		"a token that a person gives up does not wait": {given(tokenOf, issued(0), deleted, withoutKubeconfig,
			annotated(clusterprovisionerv1alpha1.SkipRevocationAnnotation)), decision{release: true}},
		"a deleted token that a person gave up is let go": {given(tokenOf, deleted, annotated(clusterprovisionerv1alpha1.SkipRevocationAnnotation)), decision{release: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, plan(test.given.config, test.given.seen, noon), comparing()); diff != "" {
				t.Errorf("the plan differs (-want +got):\n%s", diff)
			}
		})
	}
}

// comparing compares plans as values; outcomes are equal if they say the same.
func comparing() cmp.Options {
	return cmp.Options{
		cmp.AllowUnexported(decision{}),
		cmp.Comparer(func(a, b flow.Outcome) bool {
			return a.Reason() == b.Reason() && a.Message() == b.Message() && a.IsStalled() == b.IsStalled()
		}),
	}
}
