// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/test/rig"
)

const (
	variantClusters = "clusters"
	// clusterCount is how many Clusters there are, clusterLimit how many runs may be under way.
	clusterCount = 20
	clusterLimit = 3
	// probeInterval is how often each of them is asked for its health, before jitter.
	probeInterval = 2 * time.Second
	// probeGroup is the group of the users of their kubeconfigs, one for each.
	probeGroup = "bench:probes"
)

// clusterTool stands in RKE's place. It tells when each call begins and ends, in one file that all calls append whole lines to.
const clusterTool = `#!/bin/sh
[ "$1" = --version ] && { echo "rke version v1.8.0"; exit 0; }
for config; do :; done
cd "$(dirname "$config")" || exit 1
echo "+$1" >> ../calls
echo "INFO[0000] Building Kubernetes cluster"
sleep 0.5
cp target kube_config_cluster.yml
echo '{}' > cluster.rkestate
echo "-$1" >> ../calls
`

// clusterBench is the state of the scenario.
type clusterBench struct {
	plane  *controlPlane
	window time.Duration
	dir    string
	args   []string
}

// clusters measures many Clusters at once, whose tool is a script and which all lead to the bench's own API server, each as a user of
// its own, so that its probes can be told apart in the audit log.
func clusters(ctx context.Context, b *bench, r *controlPlane) (section, error) {
	s := section{Title: fmt.Sprintf("%d Clusters created at once, %d runs at a time, asked for their health every %s, then left alone for %s",
		clusterCount, clusterLimit, probeInterval, b.options.Window)}
	c := &clusterBench{plane: r, window: b.options.Window, dir: filepath.Join(r.Dir, "clusters")}
	if err := c.prepare(); err != nil {
		return s, err
	}
	m, err := r.startManager(ctx, c.args...)
	if err != nil {
		return s, err
	}
	err = c.measure(ctx, &s, m)
	return s, err
}

// measure takes the Clusters from their creation to their removal.
func (c *clusterBench) measure(ctx context.Context, s *section, m *manager) error {
	without, heapWithout, err := c.memory(ctx, m)
	if err != nil {
		return err
	}
	took := s.measure("until all Clusters are Ready", "s")
	begun := time.Now()
	ended, err := c.create(ctx)
	if err != nil {
		return err
	}
	took.add(1, ended.Sub(begun).Seconds())
	if err := c.plane.audit.quiet(ctx, agentWindlass, silence); err != nil {
		return err
	}
	if err := c.steady(ctx, s, m); err != nil {
		return err
	}
	with, heapWith, err := c.memory(ctx, m)
	if err != nil {
		return err
	}
	s.measure("resident without Clusters", "MiB").add(1, without)
	s.measure("resident with all of them", "MiB").add(1, with)
	s.measure("live heap for each Cluster", "KiB").add(1, (heapWith-heapWithout)*1024/clusterCount)
	if err := c.clean(ctx); err != nil {
		return err
	}
	if err := c.count(s); err != nil {
		return err
	}
	return m.stop()
}

// prepare writes the tool, and for each Cluster a configuration and a kubeconfig.
func (c *clusterBench) prepare() error {
	path := filepath.Join(c.dir, "tool")
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return fmt.Errorf("cannot make a directory: %w", err)
	}
	if err := os.WriteFile(path, []byte(clusterTool), 0o700); err != nil { //nolint:gosec // a program has to be executable
		return fmt.Errorf("cannot write the tool: %w", err)
	}
	c.args = []string{
		"--provisioner-path=rke=" + path, "--state-dir=" + filepath.Join(c.dir, "runs"),
		"--tool-isolation=none", // the tool tells of its calls beside the clusters' directories
		fmt.Sprintf("--max-concurrent-operations=%d", clusterLimit),
	}
	for i := range clusterCount {
		name := clusterName(i)
		dir := filepath.Join(c.dir, name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("cannot make a directory: %w", err)
		}
		config := fmt.Sprintf("cluster_name: %s\nnodes:\n- {address: %s.invalid, user: ubuntu, role: [controlplane, worker, etcd]}\n", name, name)
		if err := os.WriteFile(filepath.Join(dir, "cluster.yml"), []byte(config), 0o600); err != nil {
			return fmt.Errorf("cannot write the configuration of %s: %w", name, err)
		}
		user, err := c.plane.user(name, probeGroup)
		if err != nil {
			return err
		}
		if err := rig.WriteKubeconfig(filepath.Join(dir, "target"), user); err != nil {
			return err
		}
	}
	return nil
}

func clusterName(i int) string { return fmt.Sprintf("cluster-%02d", i) }

// create makes the Clusters and waits until all of them are Ready.
func (c *clusterBench) create(ctx context.Context) (time.Time, error) {
	done, err := c.plane.await(ctx, &clusterprovisionerv1alpha1.Cluster{}, clusterCount, func(object client.Object) bool {
		cluster, ok := object.(*clusterprovisionerv1alpha1.Cluster)
		return ok && apimeta.IsStatusConditionTrue(cluster.Status.Conditions, status.Ready)
	})
	if err != nil {
		return time.Time{}, err
	}
	defer done.Cancel()
	err = forEach(ctx, creators, clusterCount, func(ctx context.Context, i int) error {
		return c.plane.Client.Create(ctx, &clusterprovisionerv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: clusterName(i)},
			Spec: clusterprovisionerv1alpha1.ClusterSpec{
				ConfigPath: filepath.Join(c.dir, clusterName(i), "cluster.yml"),
				Health:     clusterprovisionerv1alpha1.Health{Interval: metav1.Duration{Duration: probeInterval}},
			},
		})
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("cannot create Clusters: %w", err)
	}
	return done.Wait(ctx, patience)
}

// steady counts what is written, and when each Cluster is asked, while nothing changes.
func (c *clusterBench) steady(ctx context.Context, s *section, m *manager) error {
	mark, err := c.plane.audit.mark()
	if err != nil {
		return err
	}
	used := rig.CPUTime(m.PID)
	if err := pause(ctx, c.window); err != nil {
		return err
	}
	wrote, err := c.plane.audit.since(mark)
	if err != nil {
		return err
	}
	s.Checks = append(s.Checks, check{
		Name: "writes by windlass besides its lease, while nothing changes", Got: []int{wrote.sum(by(agentWindlass), besidesLease)},
	})
	s.measure("CPU of windlass while nothing changes", "ms per s").add(1,
		float64(rig.CPUTime(m.PID)-used)/float64(time.Millisecond)/c.window.Seconds())
	asked, err := c.plane.audit.asked(mark, "cluster-")
	if err != nil {
		return err
	}
	judgeProbes(s, asked)
	return nil
}

// judgeProbes says how far the probes are spread: for each Cluster the pauses between them, and over all how many come in one tenth of
// an interval.
func judgeProbes(s *section, asked map[string][]time.Time) {
	pauses := s.measure("pause between two probes of a Cluster", "s")
	outside := 0
	crowd := map[int64]int{}
	for _, times := range asked {
		slices.SortFunc(times, time.Time.Compare)
		for i, at := range times {
			crowd[at.UnixNano()/int64(probeInterval/10)]++
			if i == 0 {
				continue
			}
			pause := at.Sub(times[i-1])
			pauses.add(1, pause.Seconds())
			// Never sooner than the jitter allows; what comes later is the machine's doing.
			if pause < probeInterval*8/10-10*time.Millisecond {
				outside++
			}
		}
	}
	most := 0
	for _, count := range crowd {
		most = max(most, count)
	}
	s.note("at most %d of %d Clusters were asked within %s, where an even spread would be %d", most, clusterCount, probeInterval/10, clusterCount/10)
	s.Checks = append(s.Checks,
		check{Name: "Clusters that were asked", Want: clusterCount, Got: []int{len(asked)}},
		check{Name: "probes that came sooner than the jitter allows", Got: []int{outside}},
		check{Name: "moments in which more than half of the Clusters were asked at once", Got: []int{crowded(crowd)}})
}

// crowded counts the tenths of an interval in which more than half of the Clusters were asked.
func crowded(crowd map[int64]int) int {
	moments := 0
	for _, count := range crowd {
		if count > clusterCount/2 {
			moments++
		}
	}
	return moments
}

// memory returns what the manager holds once it is left alone, resident and as live heap, in MiB.
func (c *clusterBench) memory(ctx context.Context, m *manager) (held, heap float64, err error) {
	if err := pause(ctx, settled); err != nil {
		return 0, 0, err
	}
	held, _ = resident(m.PID)
	live, err := m.metric(ctx, "go_memstats_heap_alloc_bytes")
	return held, live / (1 << 20), err
}

// count reads from what the tool told how many of its runs there were, and how many at the same time.
func (c *clusterBench) count(s *section) error {
	raw, err := os.ReadFile(filepath.Join(c.dir, "calls"))
	if err != nil {
		return fmt.Errorf("cannot read the calls of the tool: %w", err)
	}
	counts := map[string]int{}
	now, most := 0, 0
	for line := range strings.FieldsSeq(string(raw)) {
		counts[line]++
		if line[0] == '+' {
			now++
		} else {
			now--
		}
		most = max(most, now)
	}
	s.Checks = append(s.Checks,
		check{Name: "runs of the tool at the same time, at most", Want: clusterLimit, Got: []int{most}},
		check{Name: "calls of up", Want: clusterCount, Got: []int{counts["+up"]}},
		check{Name: "calls of remove", Want: clusterCount, Got: []int{counts["+remove"]}})
	return nil
}

// clean deletes the Clusters and waits until they are gone.
func (c *clusterBench) clean(ctx context.Context) error {
	kind := clusterprovisionerv1alpha1.SchemeGroupVersion.WithKind("Cluster")
	if err := c.plane.deleteAll(ctx, kind); err != nil {
		return err
	}
	return c.plane.empty(ctx, kind)
}

// asked returns when the users whose names begin so have asked the API server whether it is ready, from a mark on.
func (a *auditLog) asked(mark int64, prefix string) (map[string][]time.Time, error) {
	raw, err := os.ReadFile(a.path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the audit log: %w", err)
	}
	times := map[string][]time.Time{}
	for line := range bytes.Lines(raw[mark:]) {
		var event struct {
			RequestURI string `json:"requestURI"`
			User       struct {
				Username string `json:"username"`
			} `json:"user"`
			Received metav1.MicroTime `json:"requestReceivedTimestamp"`
		}
		if json.Unmarshal(line, &event) != nil {
			continue // a line that was begun before the mark, or is still being written
		}
		if path, _, _ := strings.Cut(event.RequestURI, "?"); path == "/readyz" && strings.HasPrefix(event.User.Username, prefix) {
			times[event.User.Username] = append(times[event.User.Username], event.Received.Time)
		}
	}
	return times, nil
}
