// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/test/guide"
	"github.com/windlass-operator/windlass/test/rig"
)

// TestGuides does what the README and the guides tell their readers to do, on a cluster like that of "make run", and compares
// what it sees with what they show. The page about the HTTP API has a test of its own, TestGuide.
func TestGuides(t *testing.T) {
	c := startLocal(t)
	nodes := c.labelsOfNodes(t)
	pages, err := filepath.Glob(filepath.Join(root, "docs", "guide", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append([]string{filepath.Join(root, "README.md")}, pages...) {
		if filepath.Base(path) == "http-api.md" {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			page, err := guide.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			c.startManager(t, "--vm-driver=simulated", "--state-dir="+t.TempDir(),
				"--provisioner-path=rke="+c.Devcluster+",devcluster="+c.Devcluster).ready()
			defer c.tidy(t, nodes) // also after a failure: the next page begins without any object, and with the nodes as they were
			newReader(t, c).read(page)
		})
	}
}

// startLocal starts a cluster of its own with the nodes of "make run".
func startLocal(t *testing.T) *cluster {
	t.Helper()
	need(t)
	c, err := newCluster("guides")
	if err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	raw, err := os.ReadFile(filepath.Join(root, "config", "local", "cluster.yml"))
	if err != nil {
		t.Fatal(err)
	}
	// A copy, because devcluster writes a kubeconfig beside it.
	config := filepath.Join(t.TempDir(), "cluster.yml")
	content := strings.Replace(string(raw), "cluster_name: windlass", "cluster_name: "+c.Name, 1)
	if err := os.WriteFile(config, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.stop)
	if err := c.start(ctx, "--config", config); err != nil {
		t.Fatal(err)
	}
	return c
}

// labelsOfNodes returns the labels of each node by its name.
func (c *cluster) labelsOfNodes(t *testing.T) map[string]map[string]string {
	t.Helper()
	var nodes corev1.NodeList
	if err := c.Client.List(t.Context(), &nodes); err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]string{}
	for _, node := range nodes.Items {
		out[node.Name] = node.Labels
	}
	return out
}

// tidy deletes every object of Windlass and the workloads of the page, and takes from the nodes the labels that they did not have.
func (c *cluster) tidy(t *testing.T, nodes map[string]map[string]string) {
	t.Helper()
	for kind := range strings.FieldsSeq(c.do(t, "api-resources", "--categories=windlass", "--output=name")) {
		c.do(t, "delete", kind, "--all", "--all-namespaces", "--timeout=60s")
	}
	c.do(t, "delete", "deployments,horizontalpodautoscalers", "--all", "--timeout=60s")
	for node, labels := range c.labelsOfNodes(t) {
		for label := range labels {
			if _, had := nodes[node][label]; !had {
				c.do(t, "label", "node", node, label+"-")
			}
		}
	}
}

// reader follows a page.
type reader struct {
	t   *testing.T
	c   *cluster
	dir string
	// object is the first whole object that the page shows. Parts of objects that it shows later are meant as changes to it.
	object map[string]any
}

// newReader returns a reader who works in the folder of a checkout, with the built programs in their PATH.
func newReader(t *testing.T, c *cluster) *reader {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"config", "docs"} {
		target, err := filepath.Abs(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	// kubectl finds the plugin by its name.
	if err := os.Symlink(c.Windlass, filepath.Join(dir, "kubectl-windlass")); err != nil {
		t.Fatal(err)
	}
	return &reader{t: t, c: c, dir: dir}
}

func (r *reader) read(page guide.Page) {
	r.t.Helper()
	for _, block := range page.Blocks {
		where := fmt.Sprintf("%s:%d", filepath.Base(page.Path), block.Line)
		if block.NotRun != "" {
			r.t.Logf("%s is not run: %s", where, block.NotRun)
			continue
		}
		for _, command := range block.First {
			if done := r.run(r.t.Context(), command); done.Code != 0 {
				r.t.Fatalf("%s: before the block: %s: %s", where, command, done.Err)
			}
		}
		if block.Language == "yaml" {
			r.apply(where, block.Text)
			continue
		}
		steps, err := block.Steps()
		if err != nil {
			r.t.Fatalf("%s: %v", where, err)
		}
		for _, step := range steps {
			r.follow(fmt.Sprintf("%s:%d", filepath.Base(page.Path), step.Line), step)
		}
	}
}

// follow runs a command and compares its output. A command that only reads is repeated until the cluster is as the page says.
func (r *reader) follow(where string, step guide.Step) {
	r.t.Helper()
	check := func(ctx context.Context) error {
		done := r.run(ctx, step.Command)
		if done.Code != 0 {
			return fmt.Errorf("exit code %d: %s", done.Code, done.Err)
		}
		if step.Output == "" {
			return nil
		}
		if difference := guide.Match(step.Output, done.Out); difference != "" {
			return fmt.Errorf("%sthe output is:\n%s", difference, done.Out)
		}
		return nil
	}
	if step.Reads() {
		eventually(r.t, where+": "+step.Command, check)
	} else if err := check(r.t.Context()); err != nil {
		r.t.Errorf("%s: %s: %v", where, step.Command, err)
	}
}

// run runs a command in a shell.
func (r *reader) run(ctx context.Context, script string) rig.Result {
	command := r.c.Command(ctx, "bash", "-euo", "pipefail", "-c", script)
	command.Dir = r.dir
	for i, variable := range command.Env {
		if path, ok := strings.CutPrefix(variable, "PATH="); ok {
			command.Env[i] = fmt.Sprintf("PATH=%s:%s:%s:%s", r.dir, filepath.Dir(r.c.Windlass), filepath.Dir(r.c.Kubectl), path)
		}
	}
	return rig.Finish(command)
}

// apply applies each object of a block of YAML.
func (r *reader) apply(where, text string) {
	r.t.Helper()
	documents := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			r.t.Fatalf("%s: %v", where, err)
		}
		r.applyOne(where, string(document))
	}
}

// applyOne applies a whole object, and tries whether the API server would take a part of one.
func (r *reader) applyOne(where, text string) {
	r.t.Helper()
	var object map[string]any
	if err := yaml.UnmarshalStrict([]byte(text), &object); err != nil {
		r.t.Fatalf("%s: %v", where, err)
	}
	args := []string{"apply", "--server-side", "--validate=strict", "-f", "-"}
	switch {
	case object["apiVersion"] != nil && r.object == nil:
		r.object = object
	case object["apiVersion"] != nil:
	case r.object == nil:
		r.t.Fatalf("%s: it is a part of an object, and the page has shown no whole one", where)
	default:
		object = merge(r.object, object)
		args = append(args, "--dry-run=server", "--force-conflicts")
	}
	raw, err := yaml.Marshal(object)
	if err != nil {
		r.t.Fatal(err)
	}
	command := r.c.Command(r.t.Context(), r.c.Kubectl, args...)
	command.Stdin = strings.NewReader(string(raw))
	if done := rig.Finish(command); done.Code != 0 {
		r.t.Errorf("%s: kubectl %s: %s", where, strings.Join(args, " "), done.Err)
	}
}

// merge returns an object with a part of it replaced. Lists are replaced as a whole.
func merge(object, part map[string]any) map[string]any {
	merged := maps.Clone(object)
	for key, value := range part {
		below, isMap := value.(map[string]any)
		if have, ok := merged[key].(map[string]any); ok && isMap {
			merged[key] = merge(have, below)
		} else {
			merged[key] = value
		}
	}
	return merged
}
