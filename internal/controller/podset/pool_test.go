// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/why"
)

// aPool returns a pool whose RuntimeClass is ready.
func aPool(name string, change ...func(*nodesv1.NodePool)) *nodesv1.NodePool {
	pool := &nodesv1.NodePool{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: nodesv1.NodePoolStatus{Handler: "runc", Conditions: []metav1.Condition{
			poolSays(nodesv1.ConditionRuntimeClassReady, metav1.ConditionTrue, nodesv1.ReasonRuntimeClassReady, ""),
		}},
	}
	for _, c := range change {
		c(pool)
	}
	return pool
}

func poolSays(conditionType string, value metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: value, Reason: reason, Message: message, LastTransitionTime: metav1.Unix(1, 0),
	}
}

func emptyPool(t *testing.T) *why.Pool {
	t.Helper()
	prepared, err := membership.NewPool(aPool("gpu"))
	if err != nil {
		t.Fatal(err)
	}
	return &why.Pool{Name: "gpu", Pool: prepared}
}

// poolNode returns a ready member with 4 CPUs.
func poolNode(name, pool string, change ...func(*corev1.Node)) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{nodesv1.RoleLabel(pool): "", nodesv1.MemberLabel(pool): ""},
		},
		Status: corev1.NodeStatus{
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")},
		},
	}
	for _, c := range change {
		c(node)
	}
	return node
}

// put creates a pool or node with its status, which the API server takes from nobody at creation.
func put[T client.Object](s *stage, object T, keep func(from, to T)) {
	s.t.Helper()
	wanted, ok := object.DeepCopyObject().(T)
	if !ok {
		s.t.Fatalf("cannot copy %T", object)
	}
	s.Create(s.t, object)
	testkit.EditStatus(s.t, s.Harness, object, func(live T) { keep(wanted, live) })
	s.t.Cleanup(func() { _ = s.Live.Delete(context.WithoutCancel(s.t.Context()), object) })
}

func (s *stage) pool(change ...func(*nodesv1.NodePool)) *nodesv1.NodePool {
	s.t.Helper()
	pool := aPool(s.namespace, change...)
	put(s, pool, func(from, to *nodesv1.NodePool) { to.Status = from.Status })
	return pool
}

func (s *stage) node(suffix string, change ...func(*corev1.Node)) *corev1.Node {
	s.t.Helper()
	node := poolNode(s.namespace+suffix, s.namespace, change...)
	put(s, node, func(from, to *corev1.Node) { to.Status = from.Status })
	return node
}

// unavailable makes the Deployment say that its pods are there, or not even that, and none is available.
func (s *stage) unavailable(created int32) {
	s.t.Helper()
	testkit.EditStatus(s.t, s.Harness, s.deployment("web"), func(d *appsv1.Deployment) {
		replicas(d, created, created, 0)
		d.Status.ObservedGeneration = d.Generation
		d.Status.Conditions = []appsv1.DeploymentCondition{{
			Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse, Reason: "MinimumReplicasUnavailable",
			Message: "Deployment does not have minimum availability.",
		}}
	})
}

func requesting(cpu string) func(*appsv1alpha1.PodSet) {
	return func(p *appsv1alpha1.PodSet) {
		withTemplate(p)
		p.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
}

func unready(node *corev1.Node) { node.Status.Conditions[0].Status = corev1.ConditionFalse }

func uncordoned(node *corev1.Node) { node.Spec.Unschedulable = false }

// TestThePoolExplainsMissingPods plays every reason through: it is told, a second pass writes nothing, and once the trouble is over, so
// is the explanation. In what is wanted, POOL is the name of the pool and of the namespace.
func TestThePoolExplainsMissingPods(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		podSet []func(*appsv1alpha1.PodSet)
		// created is how many pods the Deployment has, none of them available.
		created int32
		stage   func(s *stage)
		reason  string
		text    string
		repair  func(s *stage)
	}{
		"there is no such pool": {
			stage:  func(*stage) {},
			reason: appsv1alpha1.ReasonPoolNotFound, text: "pool POOL does not exist",
			repair: func(s *stage) { s.pool(); s.node("-a") },
		},
		"the pool is being deleted": {
			stage: func(s *stage) {
				pool := s.pool(func(p *nodesv1.NodePool) { p.Finalizers = []string{nodesv1.Finalizer} })
				if err := s.Live.Delete(t.Context(), pool); err != nil {
					s.t.Fatal(err)
				}
			},
			reason: appsv1alpha1.ReasonPoolDeleting, text: "pool POOL is being deleted",
			repair: func(s *stage) {
				testkit.Edit(s.t, s.Harness, aPool(s.namespace), func(p *nodesv1.NodePool) { p.Finalizers = nil })
				s.pool()
				s.node("-a")
			},
		},
		"the pool is not for this namespace": {
			stage: func(s *stage) {
				s.pool(func(p *nodesv1.NodePool) {
					p.Spec.AllowedNamespaces = &nodesv1.AllowedNamespaces{
						From:     nodesv1.NamespacesFromSelector,
						Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}},
					}
				})
				s.node("-a")
			},
			reason: appsv1alpha1.ReasonPoolNotAllowed,
			text:   "namespace POOL may not use pool POOL, which is for namespaces with team=a",
			repair: func(s *stage) {
				namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
				testkit.Edit(s.t, s.Harness, namespace, func(n *corev1.Namespace) { n.Labels["team"] = "a" })
				cached := NamespaceMetadata()
				testkit.Eventually(s.t, "the cache has the label", func() bool {
					err := s.Client.Get(s.t.Context(), client.ObjectKeyFromObject(namespace), cached)
					return err == nil && cached.Labels["team"] == "a"
				})
			},
		},
		"the RuntimeClass belongs to somebody else": {
			stage: func(s *stage) {
				s.pool(func(p *nodesv1.NodePool) {
					p.Status.Conditions[0] = poolSays(nodesv1.ConditionRuntimeClassReady, metav1.ConditionFalse,
						nodesv1.ReasonNameConflict, "RuntimeClass gpu exists and belongs to somebody else")
				})
				s.node("-a")
			},
			reason: appsv1alpha1.ReasonPoolRuntimeClassNotReady,
			text:   "the RuntimeClass of pool POOL is not ready: RuntimeClass gpu exists and belongs to somebody else",
			repair: func(s *stage) {
				testkit.EditStatus(s.t, s.Harness, aPool(s.namespace), func(p *nodesv1.NodePool) {
					p.Status.Conditions[0].Status = metav1.ConditionTrue
				})
			},
		},
		"the pool is paused before it has a RuntimeClass": {
			stage: func(s *stage) {
				s.pool(func(p *nodesv1.NodePool) {
					p.Annotations = map[string]string{status.PausedAnnotation: "true"}
					p.Status.Conditions = nil
				})
				s.node("-a")
			},
			reason: appsv1alpha1.ReasonPoolPaused, text: "pool POOL is paused, and pool POOL has no RuntimeClass yet",
			repair: func(s *stage) {
				testkit.EditStatus(s.t, s.Harness, aPool(s.namespace), func(p *nodesv1.NodePool) {
					p.Status.Conditions = aPool("").Status.Conditions
				})
			},
		},
		"the pool has no node": {
			stage:  func(s *stage) { s.pool() },
			reason: appsv1alpha1.ReasonPoolHasNoNode, text: "pool POOL has no nodes",
			repair: func(s *stage) { s.node("-a") },
		},
		"no node is ready": {
			created: 3,
			stage:   func(s *stage) { s.pool(); s.node("-b", unready); s.node("-a", unready) },
			reason:  appsv1alpha1.ReasonPoolHasNoReadyNode, text: "all 2 nodes of pool POOL are not ready: POOL-a, POOL-b",
			repair: func(s *stage) { s.node("-c") },
		},
		"the only node does not carry what the RuntimeClass selects": {
			created: 3,
			stage: func(s *stage) {
				s.pool(func(p *nodesv1.NodePool) { p.Spec.Labels = map[string]nodesv1.LabelValue{"zone": "a"} })
				s.node("-a")
			},
			reason: appsv1alpha1.ReasonPoolNodesNotSynced,
			text:   "the only ready node of pool POOL lacks labels of the pool: POOL-a",
			repair: func(s *stage) { s.node("-b", func(n *corev1.Node) { n.Labels["zone"] = "a" }) },
		},
		"the only node is cordoned": {
			created: 3,
			stage:   func(s *stage) { s.pool(); s.node("-a", func(n *corev1.Node) { n.Spec.Unschedulable = true }) },
			reason:  appsv1alpha1.ReasonPoolCordoned, text: "the only ready node of pool POOL is cordoned: POOL-a",
			repair: func(s *stage) { testkit.Edit(s.t, s.Harness, poolNode(s.namespace+"-a", ""), uncordoned) },
		},
		"a pod is greater than a node": {
			podSet: []func(*appsv1alpha1.PodSet){requesting("8")}, created: 3,
			stage:  func(s *stage) { s.pool(); s.node("-a"); s.node("-b") },
			reason: appsv1alpha1.ReasonPoolCapacityShort,
			text:   "pool POOL has 2 ready nodes with 4 CPU allocatable each; a pod requests 8 CPU",
			repair: func(s *stage) {
				s.node("-c", func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("24") })
			},
		},
		"all pods together are greater than all nodes": {
			podSet: []func(*appsv1alpha1.PodSet){requesting("2500m")}, created: 3,
			stage:  func(s *stage) { s.pool(); s.node("-a"); s.node("-b") },
			reason: appsv1alpha1.ReasonPoolCapacityShort,
			text:   "pool POOL has room for 2 of 3 pods: 2 ready nodes with 4 CPU allocatable each; a pod requests 2.5 CPU",
			repair: func(s *stage) { s.node("-c") },
		},
		"the handler is missing": {
			created: 3,
			stage: func(s *stage) {
				s.pool(func(p *nodesv1.NodePool) {
					p.Status.Handler = "nvidia"
					p.Status.Conditions = append(p.Status.Conditions, poolSays(nodesv1.ConditionHandlerAvailable,
						metav1.ConditionFalse, nodesv1.ReasonHandlerMissing, "handler nvidia is missing on 1 node: a"))
				})
				s.node("-a", func(n *corev1.Node) { n.Status.RuntimeHandlers = []corev1.NodeRuntimeHandler{{Name: "runc"}} })
			},
			reason: appsv1alpha1.ReasonPoolHandlerMissing,
			text:   "nodes of pool POOL cannot start its pods: handler nvidia is missing on 1 node: a",
			repair: func(s *stage) {
				testkit.EditStatus(s.t, s.Harness, aPool(s.namespace), func(p *nodesv1.NodePool) {
					apimeta.RemoveStatusCondition(&p.Status.Conditions, nodesv1.ConditionHandlerAvailable)
				})
			},
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t)
			tt.stage(s)
			podSet := s.podSet(append(tt.podSet, func(p *appsv1alpha1.PodSet) { p.Spec.NodePool = s.namespace })...)
			s.Events.Take()
			s.unavailable(tt.created)
			s.settle(podSet)

			short := "waiting for 3 of 3 pods to be created from the current template"
			if tt.created > 0 {
				short = "waiting for 3 of 3 pods to be available"
			}
			says := tt.reason + ": " + short + ": " + strings.ReplaceAll(tt.text, "POOL", s.namespace)
			s.wantConditions(podSet, map[string]string{
				"Ready": "False " + says, "Reconciling": "True " + says, "Stalled": "False NotStalled: ",
				"Available": "False MinimumReplicasUnavailable: Deployment does not have minimum availability.",
			})
			told := s.Events.Take()
			if len(told) != 1 || !told[0].Warning || told[0].Reason+": "+told[0].Note != says {
				t.Errorf("got the events %+v, want one warning %q", told, says)
			}

			before := s.Writes()
			s.settle(podSet)
			if got := s.Writes() - before; got != 0 {
				t.Errorf("nothing has changed, and still there were %d writes", got)
			}
			s.wantEvents()

			tt.repair(s)
			s.settle(podSet)
			s.wantConditions(podSet, map[string]string{
				"Ready":       "False MinimumReplicasUnavailable: Deployment does not have minimum availability.",
				"Reconciling": "True RollingOut: " + short,
			})
			s.rolledOut("web")
			s.settle(podSet)
			s.wantConditions(podSet, map[string]string{"Ready": "True Ready: 3 pods are available"})
			s.wantEvents()
		})
	}
}

// TestPodsOfALatePoolComeAtOnce: they came as late as they had waited, because the ReplicaSet controller tries again less and less often.
// What wakes it is a change of the Deployment that it takes over: one for each failure, and none for a failure that is not the pool's.
func TestPodsOfALatePoolComeAtOnce(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet(func(p *appsv1alpha1.PodSet) { p.Spec.NodePool = s.namespace })
	refused := func(since int64, message string) {
		t.Helper()
		testkit.EditStatus(t, s.Harness, s.deployment("web"), func(d *appsv1.Deployment) {
			replicas(d, 0, 0, 0)
			d.Status.ObservedGeneration = d.Generation
			d.Status.Conditions = []appsv1.DeploymentCondition{{
				Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: message,
				LastTransitionTime: metav1.Unix(since, 0),
			}}
		})
	}
	wants := func(value string, writes int) {
		t.Helper()
		before := s.Writes()
		s.settle(podSet)
		if got := s.deployment("web").Annotations[appsv1alpha1.RetriedAnnotation]; got != value {
			t.Errorf("the Deployment has %q, want %q", got, value)
		}
		if got := s.Writes() - before; got != writes {
			t.Errorf("there were %d writes, want %d", got, writes)
		}
	}
	refused(1, "there is no RuntimeClass")
	wants("", 1)
	pool := s.pool()
	s.node("-a")
	wants("1970-01-01T00:00:01Z", 2) // the Deployment, and the status
	wants("1970-01-01T00:00:01Z", 0)

	refused(2, "exceeded quota")
	wants("1970-01-01T00:00:01Z", 1)
	refused(3, "there is no RuntimeClass")
	if err := s.Live.Delete(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the cache has no pool", func() bool {
		return apierrors.IsNotFound(s.Client.Get(t.Context(), client.ObjectKeyFromObject(pool), &nodesv1.NodePool{}))
	})
	wants("1970-01-01T00:00:01Z", 1)
	s.pool()
	wants("1970-01-01T00:00:03Z", 2)
}

// TestPodsOfALatePoolComeAtOnceBesideAFutileRepair is about a policy that keeps a field of the Deployment: there was always a repair left to do, which was never
// sent again, and so pods that had been refused came as late as they had waited.
func TestPodsOfALatePoolComeAtOnceBesideAFutileRepair(t *testing.T) {
	for sentence, restarted := range map[string]bool{"in the same process": false, "in the next process": true} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t)
			s.turnBack()
			podSet := s.podSet(func(p *appsv1alpha1.PodSet) { p.Spec.NodePool = s.namespace })
			testkit.EditStatus(t, s.Harness, s.deployment("web"), func(d *appsv1.Deployment) {
				replicas(d, 0, 0, 0)
				d.Status.ObservedGeneration = d.Generation
				d.Status.Conditions = []appsv1.DeploymentCondition{{
					Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "there is no RuntimeClass",
					LastTransitionTime: metav1.Unix(1, 0),
				}}
			})
			s.settle(podSet)
			s.pool()
			s.node("-a")
			if restarted {
				s.r = New(s.Client, s.Live, s.Events, s.Clock.Now, "") // which sends the repair once more
			}
			if _, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(podSet)); err != nil {
				t.Fatal(err)
			}
			if got := s.deployment("web").Annotations[appsv1alpha1.RetriedAnnotation]; got != "1970-01-01T00:00:01Z" {
				t.Errorf("the Deployment has %q: its ReplicaSet does not try again", got)
			}
		})
	}
}

// TestPodsRefusedByAnOldPolicyComeAtOnce is about an API server that compiles its policies once a second: it refused what a try right after the change
// of the pool asked for, and the pods came up to 17 minutes late. A process that has just started knows of no first try.
func TestPodsRefusedByAnOldPolicyComeAtOnce(t *testing.T) {
	for sentence, restarted := range map[string]bool{"by the same process": false, "by the next process": true} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t)
			podSet := s.podSet(func(p *appsv1alpha1.PodSet) { p.Spec.NodePool = s.namespace })
			stillRefused := func() {
				t.Helper()
				testkit.EditStatus(t, s.Harness, s.deployment("web"), func(d *appsv1.Deployment) {
					replicas(d, 0, 0, 0)
					d.Status.ObservedGeneration = d.Generation
					d.Status.Conditions = []appsv1.DeploymentCondition{{
						Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "forbidden",
						LastTransitionTime: metav1.Unix(1, 0),
					}}
				})
				s.settle(podSet)
			}
			stillRefused()
			s.pool()
			s.node("-a")
			pass := func(want string) time.Duration {
				t.Helper()
				result, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(podSet))
				if got := s.deployment("web").Annotations[appsv1alpha1.RetriedAnnotation]; got != want || err != nil {
					t.Errorf("the Deployment has %q, want %q: %v", got, want, err)
				}
				return result.RequeueAfter
			}
			const first = "1970-01-01T00:00:01Z"
			if after := pass(first); after < secondTryAfter || after > 2*secondTryAfter {
				t.Errorf("it looks again after %s, want %s and a bit", after, secondTryAfter)
			}
			if restarted {
				s.r = New(s.Client, s.Live, s.Events, s.Clock.Now, "")
				s.Clock.Step(time.Minute)
			}
			stillRefused() // which takes half the time
			if after := pass(first); after < secondTryAfter/2 || after >= secondTryAfter {
				t.Errorf("half the time later, it looks again after %s", after)
			}
			s.Clock.Step(secondTryAfter / 2)
			pass(first + secondTry)
			stillRefused()
			before := s.Writes()
			for range 3 {
				s.Clock.Step(secondTryAfter)
				if after := pass(first + secondTry); after != 0 {
					t.Errorf("it looks again after %s", after)
				}
			}
			if got := s.Writes() - before; got != 0 {
				t.Errorf("after the second try there were %d writes", got)
			}
		})
	}
}

// TestAPoolIsBlamedForAQuotaOfTheOperatorsNamespace: the policy of a pool does not match the pods there, so it is not what refuses them.
func TestAPoolIsBlamedForAQuotaOfTheOperatorsNamespace(t *testing.T) {
	s := newStage(t)
	s.r = New(s.Client, s.Live, s.Events, s.Clock.Now, s.namespace)
	s.pool(func(p *nodesv1.NodePool) {
		p.Spec.AllowedNamespaces = &nodesv1.AllowedNamespaces{
			From: nodesv1.NamespacesFromSelector, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}},
		}
	})
	s.node("-a")
	podSet := s.podSet(func(p *appsv1alpha1.PodSet) { p.Spec.NodePool = s.namespace })
	testkit.EditStatus(t, s.Harness, s.deployment("web"), func(d *appsv1.Deployment) {
		d.Status.ObservedGeneration = d.Generation
		d.Status.Conditions = []appsv1.DeploymentCondition{{
			Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "exceeded quota",
		}}
	})
	s.settle(podSet)
	s.wantConditions(podSet, map[string]string{"Ready": "False FailedCreate: exceeded quota"})
}

func TestAPoolIsNotBlamedWhilePodsRun(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet(func(p *appsv1alpha1.PodSet) { p.Spec.NodePool = s.namespace })
	s.rolledOut("web")
	s.settle(podSet)
	s.wantConditions(podSet, map[string]string{"Ready": "True Ready: 3 pods are available"})
	s.wantEvents("DeploymentCreated")
}

// TestPodsThatHaveANodeAreNotTheSchedulersAffair has pods that do not start on a node which would take no more of them.
func TestPodsThatHaveANodeAreNotTheSchedulersAffair(t *testing.T) {
	s := newStage(t)
	s.pool()
	s.node("-a", func(n *corev1.Node) { n.Spec.Unschedulable = true })
	podSet := s.podSet(func(p *appsv1alpha1.PodSet) { p.Spec.NodePool = s.namespace }, sized(1))
	pod := s.pod("web-1", "web", func(p *corev1.Pod) { p.Spec.NodeName = s.namespace + "-a" })
	s.unavailable(1)
	s.settle(podSet)
	s.wantConditions(podSet, map[string]string{"Reconciling": "True RollingOut: waiting for 1 of 1 pods to be available"})

	if err := s.Live.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	s.pod("web-2", "web")
	s.settle(podSet)
	s.wantConditions(podSet, map[string]string{
		"Reconciling": "True PoolCordoned: waiting for 1 of 1 pods to be available: the only ready node of pool " +
			s.namespace + " is cordoned: " + s.namespace + "-a",
	})
}

// TestThePoolWakesWhoWaitsForIt runs the controller as the manager does, and changes what an explanation is made of.
func TestThePoolWakesWhoWaitsForIt(t *testing.T) {
	s := newStage(t)
	s.start(t)
	podSet := aPodSet(requesting("3"), func(p *appsv1alpha1.PodSet) {
		p.Namespace, p.UID, p.Generation, p.Spec.NodePool = s.namespace, "", 0, s.namespace
	})
	s.Create(t, podSet)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "web"}}
	testkit.Eventually(t, "the Deployment is there", func() bool { return s.Get(t, deployment) })
	s.unavailable(0)
	until := func(reason string) {
		t.Helper()
		testkit.Eventually(t, "the PodSet says "+reason, func() bool {
			ready := pick(podSet, map[string]string{"Ready": ""})["Ready"]
			return s.Get(t, podSet) && strings.HasPrefix(ready, "False "+reason+": ")
		})
	}
	until(appsv1alpha1.ReasonPoolNotFound)

	pool := s.pool(func(p *nodesv1.NodePool) {
		p.Spec.AllowedNamespaces = &nodesv1.AllowedNamespaces{
			From:     nodesv1.NamespacesFromSelector,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}},
		}
	})
	until(appsv1alpha1.ReasonPoolNotAllowed)

	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	testkit.Edit(t, s.Harness, namespace, func(n *corev1.Namespace) { n.Labels["team"] = "a" })
	until(appsv1alpha1.ReasonPoolHasNoNode)

	s.node("-a", func(n *corev1.Node) { n.Spec.Unschedulable = true })
	testkit.EditStatus(t, s.Harness, pool, func(p *nodesv1.NodePool) { p.Status.NodeCount = 1 })
	until(appsv1alpha1.ReasonPoolCordoned)

	testkit.Edit(t, s.Harness, poolNode(s.namespace+"-a", ""), uncordoned)
	until(appsv1alpha1.ReasonPoolCapacityShort)

	s.node("-b")
	s.node("-c")
	testkit.EditStatus(t, s.Harness, pool, func(p *nodesv1.NodePool) { p.Status.NodeCount = 3 })
	until("MinimumReplicasUnavailable")
}

func TestWhatOfAPoolMatters(t *testing.T) {
	t.Parallel()
	pool := func(change func(*nodesv1.NodePool)) bool {
		return poolChanged().Update(event.UpdateEvent{ObjectOld: aPool("gpu"), ObjectNew: aPool("gpu", change)})
	}
	node := func(change func(*corev1.Node)) bool {
		return nodeChanged().Update(event.UpdateEvent{ObjectOld: poolNode("a", "gpu"), ObjectNew: poolNode("a", "gpu", change)})
	}
	tests := map[string]struct{ got, want bool }{
		"its spec":         {pool(func(p *nodesv1.NodePool) { p.Generation++ }), true},
		"its end":          {pool(func(p *nodesv1.NodePool) { p.DeletionTimestamp = new(metav1.Unix(1, 0)) }), true},
		"its pause":        {pool(func(p *nodesv1.NodePool) { p.Annotations = map[string]string{status.PausedAnnotation: "true"} }), true},
		"how many nodes":   {pool(func(p *nodesv1.NodePool) { p.Status.NodeCount++ }), true},
		"how many ready":   {pool(func(p *nodesv1.NodePool) { p.Status.ReadyNodeCount++ }), true},
		"how many carry":   {pool(func(p *nodesv1.NodePool) { p.Status.SyncedNodeCount++ }), true},
		"its handler":      {pool(func(p *nodesv1.NodePool) { p.Status.Handler = "nvidia" }), true},
		"its RuntimeClass": {pool(func(p *nodesv1.NodePool) { p.Status.Conditions[0].Status = metav1.ConditionFalse }), true},
		"its size": {pool(func(p *nodesv1.NodePool) {
			p.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
		}), true},
		"not since when":      {pool(func(p *nodesv1.NodePool) { p.Status.Conditions[0].LastTransitionTime = metav1.Unix(2, 0) }), false},
		"not its ledger":      {pool(func(p *nodesv1.NodePool) { p.Status.Ledger.Labels = []string{"a"} }), false},
		"a cordoned node":     {node(func(n *corev1.Node) { n.Spec.Unschedulable = true }), true},
		"a node not ready":    {node(unready), true},
		"not a node's labels": {node(func(n *corev1.Node) { n.Labels["a"] = "b" }), false},
		"not a new node":      {nodeChanged().Create(event.CreateEvent{Object: poolNode("a", "gpu")}), false},
		"not a lost node":     {nodeChanged().Delete(event.DeleteEvent{Object: poolNode("a", "gpu")}), false},
		"not a new namespace": {namespaceChanged().Create(event.CreateEvent{Object: NamespaceMetadata()}), false},
	}
	for what, tt := range tests {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			if tt.got != tt.want {
				t.Errorf("got %t, want %t", tt.got, tt.want)
			}
		})
	}
}

// TestThePoolWakesNobodyElse has a PodSet whose pods are all there, one of another pool, and one without a pool.
func TestThePoolWakesNobodyElse(t *testing.T) {
	s := newStage(t)
	named := func(name, pool string) func(*appsv1alpha1.PodSet) {
		return func(p *appsv1alpha1.PodSet) { p.Name, p.Spec.NodePool = name, pool }
	}
	for _, podSet := range []struct {
		name, pool string
		available  bool
	}{{"waits", s.namespace, false}, {"runs", s.namespace, true}, {"elsewhere", s.namespace + "-other", false}, {"anywhere", "", false}} {
		s.podSet(named(podSet.name, podSet.pool))
		s.rolledOut(podSet.name)
		if !podSet.available {
			testkit.EditStatus(t, s.Harness, s.deployment(podSet.name), func(d *appsv1.Deployment) { replicas(d, 3, 3, 2) })
		}
	}
	s.Sync(t)
	woken := func(q *delays) []string {
		var names []string
		for name, after := range q.added {
			if after != coalesce {
				t.Errorf("%s is woken up after %s", name, after)
			}
			names = append(names, name)
		}
		return names
	}
	tests := map[string]func(q *delays){
		"the pool changes": func(q *delays) {
			soon(byPool(s.Client)).Create(t.Context(), event.CreateEvent{Object: aPool(s.namespace)}, q)
		},
		"a node of it is cordoned": func(q *delays) {
			soon(byNode(s.Client)).Create(t.Context(), event.CreateEvent{Object: poolNode("a", s.namespace)}, q)
		},
	}
	for sentence, happens := range tests {
		q := &delays{added: map[string]time.Duration{}}
		happens(q)
		if diff := cmp.Diff([]string{"waits"}, woken(q)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sentence, diff)
		}
	}
}
