// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/windlass-operator/windlass/internal/why"
	"github.com/windlass-operator/windlass/test/rig"
)

const (
	// realNode is the node with a kubelet, and appImage the image that it has.
	realNode = "causes-real"
	appImage = "causes.invalid/app:1"
	// interval is how often something is asked again.
	interval = 500 * time.Millisecond
	// patience is how long a fault may take to show, on a machine that has much else to do.
	patience = 4 * time.Minute
)

// world is a cluster with a manager that serves the HTTP API.
type world struct {
	rig.Cluster

	manager *rig.Manager
	gateway *rig.Process
	// base is the URL of the HTTP API, and token that of a user with all rights.
	base, token string
	// lacking says why there is no real node, empty if there is one.
	lacking string
	// plugin is the program under the name by which kubectl finds it.
	plugin string
	// configs is the directory for configurations of Clusters.
	configs string
}

// newWorld returns a world that has not been started, or an error if a program that it needs has not been built.
func newWorld() (*world, error) {
	programs, err := rig.FindPrograms()
	if err != nil {
		return nil, err
	}
	w := &world{Cluster: rig.Cluster{Programs: programs, Name: "causes"}}
	return w, rig.CheckBuilt(w.Windlass, w.Devcluster, w.Kubectl)
}

func (w *world) start(ctx context.Context) error {
	if err := w.up(ctx); err != nil {
		return err
	}
	if err := w.Install(ctx); err != nil {
		return err
	}
	if w.lacking == "" {
		if err := w.importApp(ctx); err != nil {
			return err
		}
	}
	w.plugin = filepath.Join(w.Dir, "kubectl-windlass")
	if err := os.Symlink(w.Windlass, w.plugin); err != nil {
		return err
	}
	_, account, err := w.TakeAccount(ctx, rig.ServiceAccount)
	if err != nil {
		return err
	}
	if err := w.startManager(ctx, account); err != nil {
		return err
	}
	if err := w.startGateway(ctx); err != nil {
		return err
	}
	made := w.sh(ctx, "kubectl create serviceaccount reader -n default && "+
		"kubectl create clusterrolebinding causes-reader --clusterrole=cluster-admin --serviceaccount=default:reader")
	if made.Code != 0 {
		return fmt.Errorf("cannot make a user: %s", made.Err)
	}
	w.token, err = w.Token(ctx, "default", "reader")
	return err
}

// up starts the control plane, with a real node where the machine can have one.
func (w *world) up(ctx context.Context) error {
	err := w.Up(ctx, "--name", w.Name, "--nodes", "1", "--real-node="+realNode)
	if err == nil {
		return nil
	}
	_, reason, refused := strings.Cut(err.Error(), "a real node needs ")
	if !refused {
		return err
	}
	w.lacking = "a real node needs " + strings.TrimSpace(reason)
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

// startManager starts the manager with the hosts and tools of all faults, and waits until it is ready.
func (w *world) startManager(ctx context.Context, account string) (err error) {
	w.configs = filepath.Join(w.Dir, "configs")
	if err := os.Mkdir(w.configs, 0o700); err != nil {
		return err
	}
	hosts, tool := filepath.Join(w.Dir, "hosts.yaml"), filepath.Join(w.Dir, "tool")
	if err := os.WriteFile(hosts, []byte(hostsFile()), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(tool, []byte(scriptedTool), 0o700); err != nil {
		return err
	}
	w.manager, err = w.StartManager(ctx, account, filepath.Join(w.Dir, "manager.log"),
		"--leader-elect=false", "--vm-hosts="+hosts, "--provisioner-path=rke="+tool, "--allowed-provisioners=rke,exec", "--config-root="+w.configs,
		"--state-dir="+filepath.Join(w.Dir, "state"), "--holder-identity=causes")
	if err != nil {
		return err
	}
	return w.manager.Ready(ctx, interval)
}

// startGateway serves the HTTP API, and waits until it does.
func (w *world) startGateway(ctx context.Context) error {
	_, account, err := w.TakeAccount(ctx, "windlass-gateway")
	if err != nil {
		return err
	}
	session := filepath.Join(w.Dir, "session")
	command := w.Command(context.WithoutCancel(ctx), w.Windlass, "gateway", "--kubeconfig", account, "--metrics-bind-address=0", "--health-probe-bind-address=0",
		"--bind-address=127.0.0.1:0", "--plaintext", "--session-file="+session, "--requests-per-second=0")
	if w.gateway, err = rig.Start("windlass gateway", filepath.Join(w.Dir, "gateway.log"), command); err != nil {
		return err
	}
	return w.gateway.Until(ctx, interval, func(context.Context) error {
		url, err := os.ReadFile(session)
		w.base, _, _ = strings.Cut(strings.TrimSpace(string(url)), "/?")
		return err
	})
}

func (w *world) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if w.gateway != nil {
		if _, err := w.gateway.End(syscall.SIGTERM, time.Minute); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if w.manager != nil {
		if _, err := w.manager.End(syscall.SIGTERM, time.Minute); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if err := w.Down(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
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
