// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh/agent"
)

// The parts that Play knows, and the names of the files that it leaves.
const (
	partWork, partFail, partHang, partDeaf        = "work", "fail", "hang", "deaf"
	partLeak, partFlood, partSpy, partSign        = "leak", "flood", "spy", "sign"
	stateName, kubeconfigName, waiting, lastWords = "tool.state", "kube_config_config.yaml", "waiting", "saved at the last moment"
)

// Play is the tool of the suite. It plays the part that is its first argument; the second is its configuration, beside which it leaves what
// it makes. It returns its exit code.
func Play(args []string) int {
	if len(args) != 2 {
		fmt.Println("usage: PART CONFIG")
		return 2
	}
	dir := filepath.Dir(args[1])
	switch args[0] {
	case partWork:
		return work(dir, args[1])
	case partFail:
		fmt.Println("FATA[0002] Failed to pull image: cannot pull image rancher/hyperkube")
		return 7
	case partHang:
		told := make(chan os.Signal, 1)
		signal.Notify(told, syscall.SIGTERM)
		fmt.Println("INFO[0001] " + waiting)
		<-told
		return leave(dir, stateName, lastWords)
	case partDeaf:
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("INFO[0001] " + waiting)
		<-time.After(24 * time.Hour)
	case partLeak:
		fmt.Println("-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----\nand password: hunter22 and the-known-secret")
	case partFlood:
		for range 70_000 {
			fmt.Println("INFO[0001] the same line again and again, because nobody reads it")
		}
		fmt.Println("INFO[0002] the last line")
	case partSpy:
		return leave(dir, stateName, strings.Join(os.Environ(), "\n")+"\n"+spy())
	case partSign:
		return sign(dir)
	}
	return 0
}

// work adds the configuration to the state of the last run.
func work(dir, config string) int {
	fmt.Println("INFO[0001] [etcd] Building up etcd plane..")
	given, err := os.ReadFile(config)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	state, _ := os.ReadFile(filepath.Join(dir, stateName))
	return leave(dir, stateName, string(state)+string(given)) + leave(dir, kubeconfigName, "kubeconfig")
}

// spy tells which files it can read that belong to the manager or to its supervisor.
func spy() string {
	const account = "/var/run/secrets/kubernetes.io/serviceaccount/token"
	var could []string
	for _, path := range []string{account, fmt.Sprintf("/proc/%d/environ", os.Getppid()), fmt.Sprintf("/proc/%d/mem", os.Getppid())} {
		if file, err := os.Open(path); err == nil {
			_ = file.Close()
			could = append(could, "can read "+path)
		}
	}
	return strings.Join(could, "\n")
}

// sign asks the agent for its keys.
func sign(dir string) int {
	connection, err := net.Dial("unix", os.Getenv("SSH_AUTH_SOCK")) //nolint:noctx,gosec // the tool has no context, and dials what it is told to
	if err != nil {
		fmt.Println(err)
		return 1
	}
	keys, err := agent.NewClient(connection).List()
	if err == nil && len(keys) != 1 {
		err = errors.New("the agent has no key, or several")
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return leave(dir, stateName, keys[0].Type())
}

// leave writes a file and returns the exit code.
func leave(dir, name, content string) int {
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}
