// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/windlass-operator/windlass/test/rig"
)

// toolGate is where runs of the tool for one configuration ask how to go on. The injector carries each of them.
type toolGate struct {
	listener net.Listener
	effects  *injector
	name     string
	// breaks is told if two runs work for one configuration at the same time.
	breaks func(promise string)
	// done counts how often the tool has applied the configuration.
	done atomic.Int64

	mutex sync.Mutex
	// working are the processes of the runs that have begun.
	working []int
}

// provisioning has the Clusters of a scenario provisioned by the tool. Each of the names is a Cluster with a directory of its own. It returns a
// setUp.
func provisioning(names ...string) func(s *stage) (func() error, error) {
	return func(s *stage) (func() error, error) {
		program, err := os.Executable()
		if err != nil {
			return nil, err
		}
		// The paths are the same in all runs on a lane.
		s.clusters = filepath.Join(s.Dir, "clusters")
		link := filepath.Join(s.clusters, "bin", toolName)
		if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(program, link)); err != nil {
			return nil, err
		}
		s.gates = map[string]*toolGate{}
		closeAll := func() error {
			var errs []error
			for _, gate := range s.gates {
				errs = append(errs, gate.listener.Close())
			}
			return errors.Join(append(errs, os.RemoveAll(s.clusters))...)
		}
		for _, name := range names {
			gate, err := s.openGate(name)
			if err != nil {
				return nil, errors.Join(err, closeAll())
			}
			s.gates[name] = gate
		}
		s.args = append(s.args, "--provisioner-path="+toolName+"="+link, "--state-dir="+filepath.Join(s.clusters, "state"), "--config-root="+s.clusters)
		s.hosts = append(s.hosts, s.seeTool)
		return closeAll, nil
	}
}

// openGate makes the directory of a Cluster, with the kubeconfig of the lane as that of the cluster.
func (s *stage) openGate(name string) (*toolGate, error) {
	dir := filepath.Join(s.clusters, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := rig.WriteKubeconfig(filepath.Join(dir, toolTarget), s.Config); err != nil {
		return nil, err
	}
	if err := s.configure(name, "one"); err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", filepath.Join(dir, toolSocket)) //nolint:noctx // because it is a file
	if err != nil {
		return nil, fmt.Errorf("cannot listen for the tool: %w", err)
	}
	gate := &toolGate{listener: listener, effects: s.effects, name: name, breaks: s.breaks}
	go gate.serve()
	return gate, nil
}

// configure writes the configuration of a Cluster, with another cluster name for each version.
func (s *stage) configure(name, version string) error {
	path := filepath.Join(s.clusters, name, toolConfig)
	text := fmt.Sprintf("cluster_name: %s\nnodes:\n- {address: %s.invalid, user: ubuntu, role: [controlplane, worker, etcd]}\n", version, name)
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// uids are random, and the manager's directory of a Cluster is called by its UID.
var uids = regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)

// seeTool adds to a state which files there are in the directories of Clusters and in that of the manager. A person's configuration that was
// never applied, and that a removal has set aside, is theirs.
func (s *stage) seeTool(_ context.Context, to state) error {
	return filepath.WalkDir(s.clusters, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && !strings.Contains(path, ".unapplied-") {
			to[onHost("tool", "files", uids.ReplaceAllString(path[len(s.clusters)+1:], "<uid>"))] = true
		}
		return err
	})
}

// provisioned returns how often the tool has applied the configuration of a Cluster.
func (s *stage) provisioned(name string) int { return int(s.gates[name].done.Load()) }

func (g *toolGate) serve() {
	for {
		conn, err := g.listener.Accept()
		if err != nil {
			return
		}
		go g.meet(conn)
	}
}

// meet lets one run of the tool take its course.
func (g *toolGate) meet(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	run := &toolRun{gate: g, out: json.NewEncoder(conn), in: json.NewDecoder(conn)}
	if run.in.Decode(&run.call) == nil {
		g.begin(run.call)
		g.effects.carry(effect{Verb: run.call.Action, Object: onHost("tool", "clusters", g.name)}, run)
	}
}

// begin notes that a run has begun, beside which no other may work: two of them would ruin one cluster.
func (g *toolGate) begin(call toolCall) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.working = slices.DeleteFunc(g.working, func(pid int) bool { return !isToolProcess(pid) })
	if len(g.working) > 0 {
		g.breaks(fmt.Sprintf("the tool works for %s in process %d and in %v", g.name, call.PID, g.working))
	}
	g.working = append(g.working, call.PID)
}

// isToolProcess reports whether a process is a run of the tool that has not ended. One that has ended, and nobody has asked for how, has no
// command line.
func isToolProcess(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	program, _, _ := bytes.Cut(line, []byte{0})
	return err == nil && isTool(string(program))
}

// toolRun is a run of the tool, under way.
type toolRun struct {
	gate *toolGate
	out  *json.Encoder
	in   *json.Decoder
	call toolCall
}

// send implements call: the tool does its work. A tool that its supervisor has killed in the meantime does not.
func (r *toolRun) send() {
	var done toolCall
	if r.order(toolOrder{Work: true}) && r.in.Decode(&done) == nil && done.Action == actionUp {
		r.gate.done.Add(1)
	}
}

// order tells the tool how to go on, and reports whether it could be told: a tool that was killed meanwhile cannot.
func (r *toolRun) order(o toolOrder) bool {
	err := r.out.Encode(o)
	return err == nil
}

// answer implements call.
func (r *toolRun) answer() { r.order(toolOrder{}) }

// refuse implements call.
func (r *toolRun) refuse(int) { r.order(toolOrder{Exit: exitFailure}) }

// cut implements call: the tool is killed.
func (r *toolRun) cut() { _ = syscall.Kill(r.call.PID, syscall.SIGKILL) }

// crash implements hostCall: the tool's supervisor is killed, as by a restart of the machine, so that nobody records how the tool ended.
func (r *toolRun) crash() { _ = syscall.Kill(r.call.Supervisor, syscall.SIGKILL) }
