// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/machine/libvirt/libvirttest"
	"github.com/windlass-operator/windlass/internal/why"
	"github.com/windlass-operator/windlass/test/rig"
)

const (
	// nodeName is the node with a kubelet, and appImage the image that it has.
	nodeName = "causes-real"
	appImage = "causes.invalid/app:1"
	// interval is how often something is asked again.
	interval = 500 * time.Millisecond
	// patience is how long a fault may take to show, on a machine that has much else to do.
	patience = 4 * time.Minute
	// long is what is worth a line in the log.
	long = 20 * time.Second
)

// world is a cluster with a manager that serves the HTTP API.
type world struct {
	rig.Cluster

	manager *rig.Manager
	// engine has the machines of the faults on Docker, and doomed that of the fault that stops it.
	engine, doomed engine
	libvirt        *libvirttest.Daemon
	// base is the URL of the HTTP API, and token that of a user with all rights.
	base, token string
	// all is true if all faults are induced, and lacking says of what they need why it is not there.
	all     bool
	lacking map[part]string
	// plugin is the program under the name by which kubectl finds it.
	plugin string
	// configs is the directory for configurations of Clusters.
	configs string
	// words are what was compared.
	words words
}

// startWorld starts a world for the test, or skips the test if a program that it needs has not been built.
func startWorld(t *testing.T) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a whole cluster, which -short leaves out")
	}
	programs, err := rig.FindPrograms()
	if err != nil {
		t.Skip(err)
	}
	if err := rig.CheckBuilt(programs.Windlass, programs.Devcluster, programs.Kubectl); err != nil {
		t.Skip(err)
	}
	w := &world{Cluster: rig.Cluster{Programs: programs, Name: "causes"}, all: everything(), lacking: map[part]string{}}
	t.Cleanup(w.stop)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	if err := w.start(ctx); err != nil {
		t.Fatalf("cannot start the cluster of the tests: %v", err)
	}
	return w
}

func (w *world) start(ctx context.Context) error {
	if err := w.up(ctx); err != nil {
		return err
	}
	if err := w.Install(ctx); err != nil {
		return err
	}
	if w.all {
		if err := w.startParts(ctx); err != nil {
			return err
		}
	}
	w.plugin = filepath.Join(w.Dir, "kubectl-windlass")
	if err := os.Symlink(w.Windlass, w.plugin); err != nil {
		return err
	}
	if err := w.startManager(ctx); err != nil {
		return err
	}
	made := w.sh(ctx, "kubectl create serviceaccount reader -n default && "+
		"kubectl create clusterrolebinding causes-reader --clusterrole=cluster-admin --serviceaccount=default:reader")
	if made.Code != 0 {
		return fmt.Errorf("cannot make a user: %s", made.Err)
	}
	var err error
	w.token, err = w.Token(ctx, "default", "reader")
	return err
}

// startParts gives the real node its image, and starts the engines of Docker and libvirt.
func (w *world) startParts(ctx context.Context) error {
	if w.lacking[realNode] == "" {
		if err := w.importApp(ctx); err != nil {
			return err
		}
	}
	if err := w.startEngines(ctx); err != nil {
		return err
	}
	return w.startLibvirt(ctx)
}

// up starts the control plane, with a real node if it is needed and the machine can have one.
func (w *world) up(ctx context.Context) error {
	if !w.all {
		return w.Up(ctx, "--name", w.Name, "--nodes", "1")
	}
	err := w.Up(ctx, "--name", w.Name, "--nodes", "1", "--real-node="+nodeName)
	if err == nil {
		return nil
	}
	_, reason, refused := strings.Cut(err.Error(), "a real node needs ")
	if !refused {
		return err
	}
	w.lacking[realNode] = "a real node needs " + strings.TrimSpace(reason)
	if err := w.Down(ctx); err != nil {
		return err
	}
	return w.Up(ctx, "--name", w.Name, "--nodes", "1")
}

// importApp gives the real node the image of the faults.
func (w *world) importApp(ctx context.Context) error {
	app := filepath.Join(w.Dir, "app")
	build := exec.CommandContext(ctx, "go", "build", "-o", app, "./testdata/app")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the program of the image: %w: %s", err, out)
	}
	if done := w.Run(ctx, w.Devcluster, "image", "import", "--name", w.Name, "--ref", appImage, "--binary", app); done.Code != 0 {
		return fmt.Errorf("cannot import the image: %s", done.Err)
	}
	return nil
}

// startManager starts the manager with the hosts and tools of all faults, and waits until it is ready and serves the HTTP API, which
// reaches the hosts.
func (w *world) startManager(ctx context.Context) (err error) {
	if bound := w.Run(ctx, w.Kubectl, "apply", "-f", filepath.Join(w.Root, "config", "gateway-in-manager", "role_binding.yaml")); bound.Code != 0 {
		return fmt.Errorf("cannot let the manager serve the HTTP API: %s", bound.Err)
	}
	_, account, err := w.TakeAccount(ctx, rig.ServiceAccount)
	if err != nil {
		return err
	}
	w.configs = filepath.Join(w.Dir, "configs")
	if err := os.Mkdir(w.configs, 0o700); err != nil {
		return err
	}
	hosts, session := filepath.Join(w.Dir, "hosts.yaml"), filepath.Join(w.Dir, "session")
	if err := os.WriteFile(hosts, []byte(w.hostsFile()), 0o600); err != nil {
		return err
	}
	w.manager, err = w.StartManager(ctx, account, filepath.Join(w.Dir, "manager.log"),
		"--leader-elect=false", "--vm-hosts="+hosts, "--provisioner-path=rke="+w.Devcluster, "--allowed-provisioners=rke,exec", "--config-root="+w.configs,
		"--state-dir="+filepath.Join(w.Dir, "state"), "--holder-identity=causes",
		"--gateway-bind-address=127.0.0.1:0", "--gateway-plaintext", "--gateway-session-file="+session, "--gateway-requests-per-second=0")
	if err != nil {
		return err
	}
	if err := w.manager.Ready(ctx, interval); err != nil {
		return err
	}
	return w.manager.Until(ctx, interval, func(context.Context) error {
		url, err := os.ReadFile(session)
		w.base, _, _ = strings.Cut(strings.TrimSpace(string(url)), "/?")
		return err
	})
}

func (w *world) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	complain := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if w.manager != nil {
		_, err := w.manager.End(syscall.SIGTERM, time.Minute)
		complain(err)
	}
	complain(w.engine.close())
	complain(w.doomed.close())
	complain(w.closeLibvirt())
	if w.Dir != "" { // also the clusters that the tool has made
		if done := w.Run(ctx, w.Devcluster, "down", "--all"); done.Code != 0 {
			complain(errors.New(done.Err))
		}
	}
	complain(w.Down(ctx))
}

// sh runs a command as somebody would who pastes it into a shell, as the administrator. An editor changes nothing. As in the guides, A and T are
// address and token of the HTTP API.
func (w *world) sh(ctx context.Context, command string) rig.Result {
	shell := w.Command(ctx, "bash", "-c", command)
	shell.Env = append(shell.Env, "PATH="+filepath.Dir(w.Kubectl)+":"+os.Getenv("PATH"), "EDITOR=true", "A="+w.base, "T="+w.token)
	return rig.Finish(shell)
}

// why asks the HTTP API for an explanation.
func (w *world) why(ctx context.Context, path string) (*why.Explanation, error) {
	at, query, _ := strings.Cut(path, "?")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base+"/v1/"+at+"/why?"+query, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+w.token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", response.Status, raw)
	}
	out := &why.Explanation{}
	return out, json.Unmarshal(raw, out)
}
