// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/test/rig"
)

// orderlyEnd bounds an orderly end: running reconciles take milliseconds here, and a second is allowed on top. The rest is
// for a machine that is busy with other things.
const orderlyEnd = 10 * time.Second

// holder returns who holds the Lease, empty for nobody.
func (c *cluster) holder(ctx context.Context) (string, error) {
	lease := &coordinationv1.Lease{}
	err := c.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: rig.LeaseName}, lease)
	return ptr.Deref(lease.Spec.HolderIdentity, ""), client.IgnoreNotFound(err)
}

// leads waits until the Lease is held by the identity.
func (c *cluster) leads(t *testing.T, identity string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%q holds the Lease", identity), func(ctx context.Context) error {
		holder, err := c.holder(ctx)
		if err == nil && holder != identity {
			err = fmt.Errorf("%q holds it", holder)
		}
		return err
	})
}

func TestTakeover(t *testing.T) {
	c := need(t)
	first := c.startManager(t, "--holder-identity=first")
	c.leads(t, "first")
	second := c.startManager(t, "--holder-identity=second").ready()
	if holder, err := c.holder(t.Context()); err != nil || holder != "first" {
		t.Fatalf("with two instances %q holds the Lease (%v), want the first", holder, err)
	}

	code, took := first.stop()
	if code != 0 || took > orderlyEnd {
		t.Errorf("the first ended with code %d after %s, want 0 within %s", code, took, orderlyEnd)
	}
	t.Logf("ended within %s", took.Round(time.Millisecond))
	c.leads(t, "second")

	c.join(t, "takeover", nodeName(5))
	c.apply(t, pool("takeover", "1"))
	c.poolReady(t, "takeover", 1)
	c.remove(t, "wnp", "takeover")

	if code, took := second.stop(); code != 0 || took > orderlyEnd {
		t.Errorf("the second ended with code %d after %s, want 0 within %s", code, took, orderlyEnd)
	}
	if holder, err := c.holder(t.Context()); err != nil || holder != "" {
		t.Errorf("after all ended %q holds the Lease (%v), want nobody", holder, err)
	}
}

func TestHealthAndReadiness(t *testing.T) {
	c := need(t)
	m := c.startManager(t).ready()
	if err := m.Probe(t.Context(), "/healthz"); err != nil {
		t.Error(err)
	}
}

// TestLostLeadership takes the Lease away. Two instances must never work at once, so the one that lost it ends, and says so.
func TestLostLeadership(t *testing.T) {
	c := need(t)
	m := c.startManager(t, "--holder-identity=robbed")
	c.leads(t, "robbed")
	lease := &coordinationv1.Lease{}
	lease.Namespace, lease.Name = namespace, rig.LeaseName
	t.Cleanup(func() { // or the next test waits until it runs out
		if err := c.Client.Delete(context.WithoutCancel(t.Context()), lease); err != nil {
			t.Error(err)
		}
	})
	theft := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"holderIdentity":"thief"}}`))
	if err := c.Client.Patch(t.Context(), lease, theft); err != nil {
		t.Fatal(err)
	}

	want := "windlass: cannot renew the Lease windlass-system/windlass in time: this instance stops, because another one can take over\n"
	if code := m.wait(); code != 1 || !strings.HasSuffix(m.read(), want) {
		t.Errorf("it ended with code %d, want 1 and the last line %q", code, want)
	}
	if holder, err := c.holder(t.Context()); err != nil || holder != "thief" {
		t.Errorf("%q holds the Lease (%v), want the thief", holder, err)
	}
}

// TestLeaseHasItsOwnPriority asks for the Lease as the manager and looks at what the API server sorted the request under.
func TestLeaseHasItsOwnPriority(t *testing.T) {
	c := need(t)
	schema := &flowcontrolv1.FlowSchema{}
	if err := c.Client.Get(t.Context(), client.ObjectKey{Name: "windlass-leader-election"}, schema); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.manager)
	if err != nil {
		t.Fatal(err)
	}
	web, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	url := config.Host + "/apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases/" + rig.LeaseName
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := web.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if got := response.Header.Get("X-Kubernetes-Pf-Flowschema-Uid"); got != string(schema.UID) {
		t.Errorf("the request fell under the FlowSchema %q, want %q", got, schema.UID)
	}
}

// TestEndWhileStarting asks for the end at several points of a start. Nobody must be left holding the Lease.
func TestEndWhileStarting(t *testing.T) {
	c := need(t)
	for _, line := range []string{"", `Starting version=`, "Attempting to acquire", "Successfully acquired"} {
		t.Run("after "+line, func(t *testing.T) {
			m := c.startManager(t)
			eventually(t, "the manager logs "+line, func(context.Context) error {
				if log := m.read(); log == "" || !strings.Contains(log, line) {
					return fmt.Errorf("its log is %q", log)
				}
				return nil
			})
			if code, took := m.stop(); code != 0 || took > orderlyEnd {
				t.Errorf("ended with code %d after %s, want 0 within %s", code, took, orderlyEnd)
			}
			if holder, err := c.holder(t.Context()); err != nil || holder != "" {
				t.Errorf("%q still holds the Lease (%v)", holder, err)
			}
		})
	}
}

// TestSentences is about everybody who starts Windlass with something missing: one sentence that says what to do.
func TestSentences(t *testing.T) {
	c := need(t)
	silent := filepath.Join(t.TempDir(), "silent")
	raw, err := os.ReadFile(c.Admin)
	if err != nil {
		t.Fatal(err)
	}
	// Port 1 on the loopback address: nobody listens there.
	host := strings.TrimPrefix(c.Config.Host, "https://")
	if err := os.WriteFile(silent, []byte(strings.ReplaceAll(string(raw), host, "127.0.0.1:1")), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func(args ...string) rig.Result {
		args = append([]string{"manager", "--metrics-bind-address=0", "--health-probe-bind-address=0"}, args...)
		return c.Run(t.Context(), c.Windlass, args...)
	}
	tests := map[string]struct {
		got  rig.Result
		code int
		want string
	}{
		"the kubeconfig is missing": {
			start("--kubeconfig=/does/not/exist"), 1,
			"windlass: cannot use kubeconfig \"/does/not/exist\": no such file or directory: give another file with --kubeconfig\n",
		},
		"nobody answers": {
			start("--kubeconfig", silent), 1,
			"windlass: the API server at https://127.0.0.1:1 cannot be reached: dial tcp 127.0.0.1:1: connect: connection " +
				"refused: check that the cluster runs and that the kubeconfig is for it\n",
		},
		"the Lease belongs to a namespace that the manager has no rights in": {
			start("--kubeconfig", c.manager, "--lease-lock-namespace=default", "--controllers=podset"), 1,
			"windlass: the election of a leader needs the right to get, update leases.coordination.k8s.io \"windlass\" in the namespace " +
				"\"default\", which this account does not have on the API server at " + c.Config.Host + "\n" +
				"windlass: the election of a leader needs the right to create leases.coordination.k8s.io in the namespace " +
				"\"default\", which this account does not have on the API server at " + c.Config.Host + "\n" +
				"windlass: apply the roles first with \"kubectl apply --server-side -k config/rbac\", or switch off what needs them\n",
		},
		"the namespace of the Lease does not exist": {
			start("--kubeconfig", c.Admin, "--lease-lock-namespace=nowhere"), 1,
			"windlass: the namespace \"nowhere\" of the Lease does not exist: create it, or name another with " +
				"--lease-lock-namespace\n",
		},
		"the controller is unknown": {
			start("--kubeconfig", c.Admin, "--controllers=*,-podsets"), 2,
			"windlass: --controllers names the unknown controller \"-podsets\": known controllers are nodepool, podset, podbuggertool, virtualmachine, cluster, kubeconfig, and '*' means all\n" +
				"See 'windlass manager --help'.\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.got.Code != test.code || test.got.Err != test.want {
				t.Errorf("exit code %d and %q, want %d and %q", test.got.Code, test.got.Err, test.code, test.want)
			}
		})
	}
}
