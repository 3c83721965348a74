// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/why"
	"github.com/windlass-operator/windlass/test/rig"
)

// fault is something that is wrong, and the wanted explanation. In its texts, $ is its id.
type fault struct {
	// name says in plain English what is wrong, and id names its objects: a DNS label.
	name, id string
	// steps make it so.
	steps []step
	// ask is what is explained, as kind/namespace/name or kind/name; with * as name, the first pod of the namespace.
	ask string
	// code is the wanted cause.
	code why.Code
	// evidence is the field that has to prove it: kind/name field.
	evidence string
	// message has to be a part of the cause's message.
	message string
	// shows has to be in the output of the pasted command, and cures says that the cause is gone after it.
	shows string
	cures bool
	// top says that the cause is that of the object, whatever one of its pods says.
	top bool
	// needs is a part that not every machine has, and elsewhere says that its command needs more than the tests have.
	needs     part
	elsewhere string
}

// part is something real that only some faults need.
type part string

const (
	realNode        part = "real node"
	realEngine      part = "Docker"
	realLibvirt     part = "libvirt"
	realProvisioner part = "devcluster"
)

// table has the faults of a kind.
type table struct {
	kind   string
	faults []fault
}

// tables are all faults, in the order of the page.
func tables() []table {
	return []table{
		{"Pods that wait for a node", podFaults()},
		{"Containers that do not run", containerFaults()},
		{"Deployments, StatefulSets, DaemonSets and Jobs", ownerFaults()},
		{"Nodes", nodeFaults()},
		{"NodePools", poolFaults()},
		{"PodSets", podSetFaults()},
		{"PodBuggerTools", toolFaults()},
		{"VirtualMachines", slices.Concat(machineFaults(), dockerFaults(), libvirtFaults())},
		{"Clusters and Kubeconfigs", slices.Concat(clusterFaults(), provisionerFaults())},
	}
}

// TestFaults: of each fault the explanation names the true cause, points at the object that proves it, and gives a command that works.
// Without the variable of "make causes", faults that need more than a control plane are left out.
func TestFaults(t *testing.T) {
	t.Parallel()
	w := startWorld(t)
	var wanted int
	var played atomic.Int32
	t.Cleanup(func() {
		if int(played.Load()) == wanted { // and not only those of a -run
			w.words.compared(t)
		}
	})
	for _, of := range tables() {
		for _, f := range of.faults {
			if f.needs != "" && !w.all {
				continue
			}
			wanted++
			t.Run(f.id, func(t *testing.T) {
				t.Parallel()
				played.Add(1)
				if lacking := w.lacking[f.needs]; lacking != "" {
					t.Skip(lacking)
				}
				r := &trial{world: w, T: t, fault: f}
				r.play()
			})
		}
	}
}

// trial is a fault that is being induced.
type trial struct {
	*testing.T
	*world

	fault fault
}

func (r *trial) play() {
	r.must("make the namespace", r.namespace)
	for _, s := range r.fault.steps {
		r.must(s.does, func(ctx context.Context) error { return s.take(ctx, r) })
	}
	var answer *why.Explanation
	var path string
	r.must("explain "+r.fault.name, func(ctx context.Context) (err error) {
		if path, err = r.path(ctx); err != nil {
			return err
		}
		if answer, err = r.world.why(ctx, path); err != nil {
			return err
		}
		return r.right(answer)
	})
	cause := r.cause(answer)
	if r.fault.top || answer.Because == nil {
		r.must("say it in the same words everywhere", func(ctx context.Context) error { return r.sameWords(ctx, answer.Subject) })
	}
	r.paste(cause, path)
}

// must repeats what is to be done until it is.
func (r *trial) must(what string, do func(ctx context.Context) error) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	begun, last := time.Now(), error(nil)
	err := rig.Until(ctx, interval, func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			last = err
			return err
		}
		return nil
	})
	if err != nil {
		r.Fatalf("not within %s: %s: %v", patience, what, err)
	}
	if took := time.Since(begun); took > long {
		r.Logf("it took %s to %s: before, %v", took.Round(time.Second), what, last)
	}
}

// fill puts the id into a text, and the directory for configurations.
func (r *trial) fill(text string) string {
	return strings.NewReplacer("$", r.fault.id, "CONFIGS", r.configs).Replace(text)
}

// path returns the path of what is asked about.
func (r *trial) path(ctx context.Context) (string, error) {
	path := r.fill(r.fault.ask)
	if !strings.HasSuffix(path, "/*") {
		return path, nil
	}
	pod, err := r.firstPod(ctx)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(path, "*") + pod, nil
}

// cause returns the failed check that has to name the cause.
func (r *trial) cause(of *why.Explanation) *why.Check {
	if r.fault.top {
		return of.Failure()
	}
	return of.Cause()
}

// right compares an explanation with the wanted one.
func (r *trial) right(got *why.Explanation) error {
	cause := r.cause(got)
	switch {
	case cause == nil:
		return fmt.Errorf("it names no cause: %s", said(got))
	case cause.Code != r.fault.code:
		return fmt.Errorf("it says %s, want %s: %s", cause.Code, r.fault.code, said(got))
	case !strings.Contains(strings.ToLower(cause.Message), strings.ToLower(r.fill(r.fault.message))):
		return fmt.Errorf("it says %q, want %q", cause.Message, r.fill(r.fault.message))
	case cause.Next == nil || cause.Next.Text == "":
		return fmt.Errorf("it says not what to do: %s", said(got))
	}
	var have []string
	for _, e := range cause.Evidence {
		have = append(have, e.Object.Kind+"/"+e.Object.Name+" "+e.Field)
		if e.ResourceVersion == "" {
			return fmt.Errorf("the evidence %s has no version", have[len(have)-1])
		}
	}
	if want := r.fill(r.fault.evidence); want != "" && !slices.ContainsFunc(have, func(e string) bool { return like(e, want) }) {
		return fmt.Errorf("its evidence is %q, want %q", have, want)
	}
	return nil
}

// like compares with a text in which * is anything.
func like(text, pattern string) bool {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$").MatchString(text)
}

func said(of *why.Explanation) string {
	raw, err := json.MarshalIndent(of, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// paste runs the command of the next step as it is.
func (r *trial) paste(cause *why.Check, path string) {
	command := cause.Next.Command
	if r.fault.elsewhere != "" {
		return
	}
	if command == "" {
		r.Errorf("there is no command to paste: %+v", cause.Next)
		return
	}
	r.must("run "+command, func(ctx context.Context) error {
		done := r.sh(ctx, command)
		if done.Code != 0 {
			return fmt.Errorf("exit code %d: %s%s", done.Code, done.Out, done.Err)
		}
		if want := r.fill(r.fault.shows); !strings.Contains(done.Out+done.Err, want) {
			return fmt.Errorf("it does not show %q: %s%s", want, done.Out, done.Err)
		}
		return nil
	})
	if !r.fault.cures {
		return
	}
	r.must("be cured by "+command, func(ctx context.Context) error {
		now, err := r.world.why(ctx, path)
		if err != nil {
			return err
		}
		if still := r.cause(now); still != nil && still.Code == r.fault.code {
			return errors.New("the cause is still there: " + said(now))
		}
		return nil
	})
}
