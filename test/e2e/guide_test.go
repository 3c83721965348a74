// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/test/rig"
)

// guideLine is a command of the guide.
type guideLine struct {
	section, command string
	// answer is what the guide shows as its output, with … for what it leaves out; empty where it shows none.
	answer string
	// shown is true for a command that is not run here, and counts as a line for its route.
	shown bool
}

// readGuide returns the lines of the guide that run something, and those of its first block that a reader has to type before.
func readGuide(t *testing.T) (prelude []string, lines []guideLine) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "docs", "guide", "http-api.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(raw), "\\\n", " ") // lines that go on
	section, block, blocks, shown := "", "", 0, false
	cell := regexp.MustCompile("`(api [^`]+)`")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && block == "" && language != "":
			block = language
			blocks++
		case strings.HasPrefix(line, "<!-- not run: "):
			shown = true
		case fence:
			block, shown = "", false
		case block == "" && strings.HasPrefix(line, "## "):
			section = strings.TrimPrefix(line, "## ")
		case block == "" && strings.HasPrefix(line, "|"):
			for _, match := range cell.FindAllStringSubmatch(line, -1) {
				lines = append(lines, guideLine{section: section, command: match[1]})
			}
		case block == "console" && strings.HasPrefix(line, "$ "):
			lines = append(lines, guideLine{section: section, command: line[2:]})
		case block == "console":
			lines[len(lines)-1].answer += line
		case block == "sh" && (strings.HasPrefix(line, "api ") || strings.HasPrefix(line, "kubectl apply ")):
			lines = append(lines, guideLine{section: section, command: line, shown: shown})
		case block == "sh" && blocks == 1:
			prelude = append(prelude, line)
		}
	}
	return prelude, lines
}

// TestGuide runs every command of the guide to the HTTP API as its reader does, with curl, against the built program.
func TestGuide(t *testing.T) {
	c := need(t)
	for _, program := range []string{"bash", "curl", "sed"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s, with which a reader of the guide runs its lines", program)
		}
	}
	prelude, lines := readGuide(t)
	dir := c.reader(t)
	routes := map[string]bool{}
	section := ""
	for _, line := range lines {
		if strings.HasPrefix(line.command, "kubectl ") {
			c.rehearse(t, line.command)
			continue
		}
		if section != line.section && line.section == "Writing" { // which begins with creating what was read until now
			c.do(t, "delete", "deployment", "web", "--namespace", "testing")
		}
		if section != line.section && line.section == "Actions" { // what was deleted before is acted on now
			c.again(t, dir)
		}
		section = line.section
		for _, route := range routesOf(line.command) {
			routes[route] = true
		}
		if !line.shown {
			c.follow(t, dir, prelude, line)
		}
	}
	if diff := missing(served(t), routes); len(diff) > 0 {
		t.Errorf("the guide has no line for %v", diff)
	}
}

// reader starts "windlass ui" and prepares a folder as the guide expects it.
func (c *cluster) reader(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	command := c.Command(context.WithoutCancel(t.Context()), c.Windlass, "ui", "--no-open", "--kubeconfig", c.Admin)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		if err := command.Wait(); err != nil {
			t.Errorf("it does not end in order: %v", err)
		}
		for _, name := range []string{"testing", "shop"} {
			_ = c.Client.Delete(context.WithoutCancel(t.Context()), namespaced(name))
		}
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-01"}} // on which nothing runs
	if err := c.Client.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Client.Delete(context.WithoutCancel(t.Context()), node) })
	for name, content := range map[string]string{".local/session": url, "web.yaml": webYAML} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"testing", "shop"} { // which another test may just have deleted
		eventually(t, name+" is not being deleted", func(ctx context.Context) error {
			found := &corev1.Namespace{}
			err := c.Client.Get(ctx, client.ObjectKey{Name: name}, found)
			if err == nil && found.DeletionTimestamp != nil {
				return fmt.Errorf("%s is on its way out", name)
			}
			return client.IgnoreNotFound(err)
		})
	}
	if err := c.Client.Create(t.Context(), namespaced("testing")); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	c.do(t, "apply", "--server-side", "-f", filepath.Join(dir, "web.yaml"))
	c.form(t, filepath.Join(dir, "login.json"))
	return dir
}

// form writes what a page sends to log in.
func (c *cluster) form(t *testing.T, path string) {
	t.Helper()
	review := &authenticationv1.TokenRequest{}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "testing", Name: "default"}}
	eventually(t, "there is an account to log in as", func(ctx context.Context) error {
		return c.Client.SubResource("token").Create(ctx, account, review)
	})
	body, err := json.Marshal(map[string]string{"token": review.Status.Token})
	if err == nil {
		err = os.WriteFile(path, body, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// again creates the Deployment of the guide anew, and waits until it has a revision.
func (c *cluster) again(t *testing.T, dir string) {
	t.Helper()
	c.do(t, "wait", "--for=delete", "deployment/web", "--namespace", "testing", "--timeout=60s")
	c.do(t, "apply", "--server-side", "-f", filepath.Join(dir, "web.yaml"))
	eventually(t, "web has a ReplicaSet", func(ctx context.Context) error {
		var sets appsv1.ReplicaSetList
		if err := c.Client.List(ctx, &sets, client.InNamespace("testing"), client.MatchingLabels{"app": "web"}); err != nil {
			return err
		}
		if len(sets.Items) == 0 {
			return errors.New("there is none")
		}
		return nil
	})
}

const webYAML = `apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: testing, labels: { app: web } }
spec:
  replicas: 1
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: "nginx:alpine" }] }
`

// follow runs one line in a shell, with what the guide says to type before, and holds the answer against what it promises.
func (c *cluster) follow(t *testing.T, dir string, prelude []string, line guideLine) {
	t.Helper()
	stream := strings.Contains(line.command, " -N ")
	script := strings.Join(prelude, "\n") + "\ncurl() { command curl --max-time 60 -w '\\n%{http_code}' \"$@\"; }\n"
	if stream { // which has no end of its own
		script += "{ " + line.command + "\n} 2>/dev/null | sed '/\"done\":true/q'"
	} else {
		script += line.command
	}
	command := c.Command(t.Context(), "bash", "-c", script)
	command.Dir = dir
	done := rig.Finish(command)
	body, code := "", strings.TrimSpace(done.Out)
	if at := strings.LastIndexByte(code, '\n'); at >= 0 {
		body, code = code[:at], code[at+1:]
	}
	switch {
	case done.Code != 0:
		t.Errorf("%s: exit code %d: %s%s", line.command, done.Code, done.Err, done.Out)
	case stream:
		if !strings.Contains(done.Out, "event: snapshot\n") || !strings.Contains(done.Out, `"done":true}`) {
			t.Errorf("%s: %s", line.command, done.Out)
		}
	case line.answer != "":
		begin, _, _ := strings.Cut(line.answer, "…")
		if !strings.HasPrefix(body, begin) {
			t.Errorf("%s: the answer is\n%s\nand not as the guide says\n%s", line.command, body, line.answer)
		}
	case !strings.HasPrefix(code, "2"):
		t.Errorf("%s: status %s: %s", line.command, code, body)
	}
}

// rehearse runs "kubectl apply" without changing anything.
func (c *cluster) rehearse(t *testing.T, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, "#")
	args := strings.Fields(line)[1:]
	folder := slices.Index(args, "-k")
	if folder < 0 || slices.Contains(args[folder+1:], "-k") {
		t.Fatalf("%s: kubectl takes one folder at a time", line)
	}
	args[folder+1] = filepath.Join(root, args[folder+1])
	c.do(t, append(args, "--dry-run=server")...)
}

// routesOf returns the routes that a line asks, as routeOf names them.
func routesOf(line string) []string {
	method := "get"
	if match := regexp.MustCompile(`-X (\w+)`).FindStringSubmatch(line); match != nil {
		method = strings.ToLower(match[1])
	}
	var out []string
	for _, match := range regexp.MustCompile(`\$A/v1/([^"' ?]+)`).FindAllStringSubmatch(line, -1) {
		out = append(out, routeOf(method, match[1]))
	}
	return out
}

// routeOf names a route without the kind and the object, because all kinds have the same ones.
func routeOf(method, path string) string {
	parts := strings.Split(path, "/")
	own := []string{"me", "watch", "apps", "tables", "usage", "session"}
	name := parts[0]
	if !slices.Contains(own, name) {
		name = "KIND"
	}
	rest := parts[1:]
	part := ""
	if len(rest) > 0 && slices.Contains(append([]string{"yaml", "events", "scale", "diff"}, actions()...), rest[len(rest)-1]) {
		part, rest = "/"+rest[len(rest)-1], rest[:len(rest)-1]
	}
	if len(rest) > 0 {
		name += "/NAME"
	}
	return method + " " + name + part
}

// actions are the last parts of paths that act on an object.
func actions() []string {
	return []string{
		"why", "preview", "describe",
		"power", "resize", "restart", "rollback", "pause", "resume", "cordon", "uncordon", "drain", "acknowledge", "approve", "retry",
		"accept-skipped-nodes", "download", "eviction", "output", "runs", "log",
	}
}

// served returns all routes of the description.
func served(t *testing.T) map[string]bool {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "docs", "api", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(raw, &api); err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for path, methods := range api.Paths {
		for method := range methods {
			out[routeOf(method, strings.TrimPrefix(path, "/v1/"))] = true
		}
	}
	return out
}

// missing returns what is in all and not in some.
func missing(all, some map[string]bool) []string {
	maps.DeleteFunc(all, func(route string, _ bool) bool { return some[route] })
	return slices.Sorted(maps.Keys(all))
}
