// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// This program is also the tool that provisions Clusters, when it is called by this name. It stands in RKE's place and asks the campaign,
// through a socket beside its configuration, how it is to go on.
const toolName = "rke"

// Files of the tool in the directory of a configuration.
const (
	toolSocket     = "tool.sock"
	toolState      = "cluster.rkestate"
	toolKubeconfig = "kube_config_cluster.yml"
	// toolTarget is the kubeconfig of the cluster that the tool pretends to make.
	toolTarget = "target.kubeconfig"
	// toolConfig is the configuration, and toolMachines the end of the name of the file that stands for its machines.
	toolConfig   = "cluster.yml"
	toolMachines = ".machines"
)

// actionUp is what the tool is called with to apply a configuration.
const actionUp = "up"

// toolCall is what the tool tells the campaign of itself.
type toolCall struct {
	Action string `json:"action"`
	PID    int    `json:"pid"`
	// Supervisor is the process that started the tool, and records how it ends.
	Supervisor int `json:"supervisor"`
}

// toolOrder is what the campaign tells the tool: to do its work, or to end.
type toolOrder struct {
	Work bool `json:"work"`
	Exit int  `json:"exit"`
}

// isTool reports whether this process was called as the tool.
func isTool(name string) bool { return filepath.Base(name) == toolName }

// runTool is the tool, and returns its exit code.
func runTool(args []string) int {
	if slices.Equal(args, []string{"--version"}) {
		fmt.Println("rke version v1.8.0")
		return 0
	}
	code, err := obeyCampaign(args[0], filepath.Dir(args[len(args)-1]))
	if err != nil {
		fmt.Fprintf(os.Stderr, "level=fatal msg=%q\n", err)
		return exitFailure
	}
	return code
}

func obeyCampaign(action, dir string) (int, error) {
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "unix", filepath.Join(dir, toolSocket))
	if err != nil {
		return 0, fmt.Errorf("cannot reach the campaign: %w", err)
	}
	defer func() { _ = conn.Close() }()
	fmt.Printf("INFO[0000] Building Kubernetes cluster, action %s\n", action)
	out, in := json.NewEncoder(conn), json.NewDecoder(bufio.NewReader(conn))
	if err := out.Encode(toolCall{Action: action, PID: os.Getpid(), Supervisor: os.Getppid()}); err != nil {
		return 0, fmt.Errorf("cannot tell the campaign: %w", err)
	}
	for {
		var order toolOrder
		if err := in.Decode(&order); err != nil {
			return 0, fmt.Errorf("cannot understand the campaign: %w", err)
		}
		if !order.Work {
			if order.Exit != 0 {
				fmt.Fprintf(os.Stderr, "FATA[0000] %s\n", marker)
			}
			return order.Exit, nil
		}
		if err := errors.Join(provision(action, dir), out.Encode(toolCall{Action: action})); err != nil {
			return 0, err
		}
	}
}

// provision does what RKE leaves in the directory of the configuration.
func provision(action, dir string) error {
	state, kubeconfig := filepath.Join(dir, toolState), filepath.Join(dir, toolKubeconfig)
	config, err := os.ReadFile(filepath.Join(dir, toolConfig))
	if err != nil {
		return fmt.Errorf("cannot read the configuration: %w", err)
	}
	if action != actionUp {
		return errors.Join(os.RemoveAll(state), os.RemoveAll(kubeconfig), os.RemoveAll(machinesOf(dir, config)))
	}
	target, err := os.ReadFile(filepath.Join(dir, toolTarget))
	if err != nil {
		return fmt.Errorf("cannot make a cluster: %w", err)
	}
	former, err := filepath.Glob(filepath.Join(dir, "*"+toolMachines))
	if err != nil {
		return fmt.Errorf("cannot find the machines: %w", err)
	}
	for _, path := range former { // RKE takes out of a cluster what the configuration does not name any more
		err = errors.Join(err, os.Remove(path))
	}
	return errors.Join(err, os.WriteFile(state, []byte("{}\n"), 0o600), os.WriteFile(kubeconfig, target, 0o600),
		os.WriteFile(machinesOf(dir, config), nil, 0o600))
}

// machinesOf returns the file that stands for the machines of a configuration. They are made when the tool applies that, and are there until the
// tool applies or removes another one with the same machines: to remove the cluster with a configuration that was never applied leaves them behind.
func machinesOf(dir string, config []byte) string {
	line, _, _ := strings.Cut(string(config), "\n")
	return filepath.Join(dir, strings.TrimPrefix(line, "cluster_name: ")+toolMachines)
}
