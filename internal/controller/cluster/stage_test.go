// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/provision/confine"
	"github.com/windlass-operator/windlass/internal/provision/exec"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// The test binary is also the supervisor and the tool of the tests.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "supervise" {
		if err := exec.Supervise(context.Background(), os.Args[2], time.Now); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 4 && os.Args[1] == "play" {
		os.Exit(play(os.Args[2], os.Args[3]))
	}
	testkit.Main(m)
}

// play is the tool. It notes its calls and what it was given. Files beside the configuration tell it how to behave: <action>.fails holds what it says before it fails, once for
// each line; <action>.hangs makes it hang; <action>.skips names a machine that it goes on without.
func play(action, config string) int {
	dir := filepath.Dir(config)
	note := func(name, text string) {
		file, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = file.WriteString(text)
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			os.Exit(99)
		}
	}
	note("calls", action+"\n")
	given, _ := os.ReadFile(config)
	note("given", action+"\n"+string(given))
	fmt.Printf("INFO[0001] [%s] %s begins\n", config, action)
	if _, err := os.Stat(filepath.Join(dir, action+".hangs")); err == nil {
		told := make(chan os.Signal, 1)
		signal.Notify(told, syscall.SIGTERM)
		<-told
		note("cluster.rkestate", "saved in time")
		return 143
	}
	if raw, err := os.ReadFile(filepath.Join(dir, action+".skips")); err == nil {
		fmt.Printf("WARN[0003] Removing host [%s] from node lists\n", raw)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, action+".fails")); err == nil && len(raw) > 0 {
		said, left, _ := strings.Cut(string(raw), "\n")
		if os.WriteFile(filepath.Join(dir, action+".fails"), []byte(left), 0o600) != nil {
			return 98
		}
		note("cluster.rkestate", "half")
		fmt.Println("FATA[0002] " + said)
		return 1
	}
	if action == "up" {
		note("cluster.rkestate", "done")
		if raw, err := os.ReadFile(filepath.Join(dir, "source")); err == nil {
			if os.WriteFile(filepath.Join(dir, "kube_config_"+filepath.Base(config)), raw, 0o600) != nil {
				return 97
			}
		}
	}
	return 0
}

// stage is what a test of the reconciler plays on.
type stage struct {
	*testkit.Harness

	t         *testing.T
	r         *Reconciler
	runner    *exec.Runner
	dir       string
	namespace string
	// ahead is how far the Reconciler's clock is ahead of the supervisors', which is the machine's.
	ahead time.Duration
	// limit is how many runs can be under way after the next restart; 0 for the usual number.
	limit   int
	cluster *clusterprovisionerv1alpha1.Cluster
}

const configText = "nodes:\n- address: 127.0.0.1\n  role: [controlplane, etcd, worker]\n"

func newStage(t *testing.T) *stage {
	t.Helper()
	t.Parallel()
	s := &stage{Harness: testkit.New(t), t: t, dir: t.TempDir()}
	s.namespace = s.Namespace(t)
	s.file("cluster.yml", configText)
	s.file("source", string(s.kubeconfig()))
	s.restart()
	return s
}

// restart makes another Reconciler on the same files, as a manager that was started again has it.
func (s *stage) restart() {
	s.t.Helper()
	realRKE, err := filepath.Abs("../../../bin/rke")
	if err != nil {
		s.t.Fatal(err)
	}
	runner, err := exec.New(exec.Options{
		Root: filepath.Join(s.dir, "root"), ConfigRoot: confine.Root(s.dir), Limit: cmp.Or(s.limit, 5), Supervisor: []string{os.Args[0], "supervise"},
		Paths: map[string]string{"tool": os.Args[0], "rke": realRKE}, Environment: os.Environ, Now: time.Now,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	prober := NewProber()
	prober.after = func(interval time.Duration) <-chan time.Time { return time.After(interval / 20) }
	ctx, stop := context.WithCancel(s.t.Context())
	s.t.Cleanup(stop)
	go func() { _ = prober.Start(ctx) }()
	s.runner = runner
	s.r = New(s.Client, s.Direct, s.Events, func() time.Time { return time.Now().Add(s.ahead) }, Options{
		Provisioner: runner, Prober: prober, Namespace: s.namespace, ConfigRoot: confine.Root(s.dir),
		Provisioners: []clusterprovisionerv1alpha1.Provisioner{
			clusterprovisionerv1alpha1.ProvisionerRKE, clusterprovisionerv1alpha1.ProvisionerExec,
		},
	})
}

// kubeconfig leads to the API server of the tests: it plays the provisioned cluster too.
func (s *stage) kubeconfig() []byte {
	s.t.Helper()
	raw, err := clientcmd.Write(kubeconfigOf(s.Config))
	if err != nil {
		s.t.Fatal(err)
	}
	return raw
}

func kubeconfigOf(config *rest.Config) clientcmdapi.Config {
	return clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"c": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": {
			ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken,
		}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}
}

func (s *stage) file(name, content string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) remove(name string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
		s.t.Fatal(err)
	}
}

// calls returns what the tool was called for, as in "2 up, 1 remove".
func (s *stage) calls() string {
	raw, _ := os.ReadFile(filepath.Join(s.dir, "calls"))
	var said []string
	for _, action := range []string{"up", "remove"} {
		if n := strings.Count(string(raw), action); n > 0 {
			said = append(said, fmt.Sprintf("%d %s", n, action))
		}
	}
	return strings.Join(said, ", ")
}

// create creates a Cluster with the configuration of the stage, changed as asked.
func (s *stage) create(change ...func(*clusterprovisionerv1alpha1.Cluster)) {
	s.t.Helper()
	call := func(action string) []string { return []string{"tool", "play", action, "{config}"} }
	s.cluster = &clusterprovisionerv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "one-"},
		Spec: clusterprovisionerv1alpha1.ClusterSpec{
			ConfigPath: filepath.Join(s.dir, "cluster.yml"), Provisioner: clusterprovisionerv1alpha1.ProvisionerExec,
			Exec: &clusterprovisionerv1alpha1.ExecSpec{
				Up: call("up"), Remove: call("remove"), StateFiles: []string{"*.rkestate"}, KubeconfigFile: "kube_config_{configname}",
			},
			Health: clusterprovisionerv1alpha1.Health{Interval: metav1.Duration{Duration: time.Second}, FailureThreshold: 2},
		},
	}
	for _, c := range change {
		c(s.cluster)
	}
	s.Create(s.t, s.cluster)
	s.t.Cleanup(s.sweep)
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.t.Logf("calls %q, status %+v", s.calls(), s.cluster.Status)
		}
	})
}

// sweep ends what a failed test has left.
func (s *stage) sweep() { s.end(string(s.cluster.UID)) }

// end ends the run of a cluster, if one is under way.
func (s *stage) end(uid string) {
	ctx := context.WithoutCancel(s.t.Context())
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 500 {
		run, err := s.runner.Observe(ctx, uid)
		if err != nil || run.Phase != "Running" {
			return
		}
		_ = s.runner.Cancel(ctx, uid)
		<-tick.C
	}
}

// full makes a run of another cluster take the only slot, until the function that it returns is called.
func (s *stage) full() (free func()) {
	s.t.Helper()
	const other = "other"
	s.limit = 1
	s.restart()
	s.t.Cleanup(func() { s.end(other) })
	err := s.runner.Start(s.t.Context(), provision.Request{
		Place: provision.Place{Cluster: other, Name: other}, ID: "up-1", Action: provision.Up, Config: []byte(configText),
		Tool: provision.Tool{Up: []string{"sleep", "3600"}}, Timeout: time.Hour, Grace: time.Second,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return func() { s.end(other) }
}

// pass runs one pass and holds the status against the contract. It reports whether the object is still there.
func (s *stage) pass() bool {
	s.t.Helper()
	if _, err := s.Reconcile(s.t, s.r, client.ObjectKeyFromObject(s.cluster)); err != nil {
		s.t.Fatalf("a pass failed: %v", err)
	}
	there := s.Get(s.t, s.cluster)
	if there && len(s.cluster.Status.Conditions) > 0 {
		testkit.CheckContract(s.t, s.cluster)
	}
	return there
}

// until runs passes until something holds.
func (s *stage) until(what string, holds func() bool) {
	s.t.Helper()
	testkit.Eventually(s.t, what, func() bool { s.pass(); return holds() })
}

// is reports whether a condition reads as wanted, which is as testkit.Reads has it.
func (s *stage) is(conditionType, want string) bool {
	return testkit.Reads(testkit.Condition(s.cluster, conditionType), want)
}

// answers is what Ready says of a cluster that is played by the API server of the tests, which has no nodes.
func (s *stage) answers() string {
	s.t.Helper()
	version, err := discovery.NewDiscoveryClientForConfigOrDie(s.Config).ServerVersion()
	if err != nil {
		s.t.Fatal(err)
	}
	return "True Ready: Kubernetes " + version.GitVersion + " answers at " + s.Config.Host + ", and 0 of its nodes are Ready"
}

// ready runs passes until the Cluster is Ready.
func (s *stage) ready() {
	s.t.Helper()
	s.becomes(status.Ready, s.answers())
}

// outside is what Stalled says of a file that is not in the directory of the stage.
func (s *stage) outside(path string) string {
	return fmt.Sprintf("True ConfigPathRefused: file %q is outside of %q, the directory that --config-root allows", path, s.dir)
}

// notFound is what Stalled says while the file of the stage does not exist.
func (s *stage) notFound() string {
	return fmt.Sprintf("True ConfigNotFound: file %q does not exist on the machine that runs Windlass", filepath.Join(s.dir, "cluster.yml"))
}

// repeated moves the time forward, retry by retry, until the Cluster is Ready.
func (s *stage) repeated() {
	s.t.Helper()
	want := s.answers()
	s.until("it has succeeded", func() bool { s.later(); return s.is(status.Ready, want) })
}

func (s *stage) becomes(conditionType, want string) {
	s.t.Helper()
	s.until(conditionType+" is "+want, func() bool { return s.is(conditionType, want) })
}

// settled runs passes until one writes nothing, and checks that none follows.
func (s *stage) settled() {
	s.t.Helper()
	s.until("a pass writes nothing", func() bool { before := s.Writes(); s.pass(); return s.Writes() == before })
}

// secret reads a Secret of the stage's namespace.
func (s *stage) secret(suffix string) *corev1.Secret {
	s.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.cluster.Name + suffix}}
	if !s.Get(s.t, secret) {
		s.t.Fatalf("there is no Secret %s", secret.Name)
	}
	return secret
}

// delete deletes the Cluster as a user would.
func (s *stage) delete() {
	s.t.Helper()
	if err := s.Live.Delete(s.t.Context(), s.cluster); err != nil {
		s.t.Fatal(err)
	}
}

// gone runs passes until the object is gone.
func (s *stage) gone() {
	s.t.Helper()
	testkit.Eventually(s.t, "the Cluster is gone", func() bool { return !s.pass() })
	if _, err := os.Stat(filepath.Join(s.dir, "root", string(s.cluster.UID))); err == nil {
		s.t.Error("the tool's directory is still there")
	}
}

// edit changes the Cluster as a user would.
func (s *stage) edit(change func(*clusterprovisionerv1alpha1.Cluster)) {
	s.t.Helper()
	testkit.Edit(s.t, s.Harness, s.cluster, change)
}

func annotate(key, value string) func(*clusterprovisionerv1alpha1.Cluster) {
	return func(c *clusterprovisionerv1alpha1.Cluster) {
		if c.Annotations == nil {
			c.Annotations = map[string]string{}
		}
		c.Annotations[key] = value
	}
}

// quick makes a Cluster retry as soon as the time is moved forward, and not before however slow the machine is.
func quick(c *clusterprovisionerv1alpha1.Cluster) {
	c.Spec.Retry = clusterprovisionerv1alpha1.Retry{
		Attempts: 4, Initial: metav1.Duration{Duration: time.Minute}, Max: metav1.Duration{Duration: 4 * time.Minute},
	}
}

// later moves the time forward until a retry is due.
func (s *stage) later() { s.ahead += 10 * time.Minute }
