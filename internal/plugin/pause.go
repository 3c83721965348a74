// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"slices"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/action"
)

// maxPause is the longest pause that ends by itself.
const maxPause = 365 * 24 * time.Hour

// pausable returns the kinds of Windlass.
func pausable() []*kind {
	return slices.DeleteFunc(kinds(), func(k *kind) bool { return !k.ours })
}

func (p *plugin) newPauseCommand() *cobra.Command {
	var lasting time.Duration
	var until string
	command := &cobra.Command{
		Use:   "pause KIND/NAME",
		Short: "Stop Windlass from acting on an object",
		Long: "Sets the annotation windlass.io/paused of an object of Windlass, of any kind: to \"true\", or to the time at which the pause ends by\n" +
			"itself. What runs goes on running.",
		Example: "  kubectl windlass pause vm/web --for 2h\n" +
			"  kubectl windlass pause nodepool/gpu --until 2030-01-31T18:00:00Z",
	}
	flags := command.Flags()
	flags.DurationVar(&lasting, "for", 0, "how long the pause lasts, as in 90m or 2h. Without this `duration` it lasts until somebody resumes the object")
	flags.StringVar(&until, "until", "", "the `time` at which the pause ends, as in 2030-01-31T18:00:00Z")
	return actsOn(p, command, addChange(command), pausable(), func(of target) (*edit[client.Object], error) {
		want, err := pauseOf(lasting, until, flags.Changed("for"))
		if err != nil {
			return nil, err
		}
		return &edit[client.Object]{
			of: of, done: "paused", make: func(object client.Object) error { return action.Pause(object, want, p.Now()) },
		}, nil
	})
}

// pauseOf returns the request that the flags make.
func pauseOf(lasting time.Duration, until string, limited bool) (action.PauseRequest, error) {
	switch {
	case limited && until != "":
		return action.PauseRequest{}, misused("--for and --until exclude each other: leave one of them out")
	case limited && (lasting < time.Second || lasting > maxPause):
		return action.PauseRequest{}, misused("--for must be 1s to %dh: without it the pause lasts until somebody resumes the object", int(maxPause.Hours()))
	case limited:
		return action.PauseRequest{Seconds: int64(lasting / time.Second)}, nil
	case until == "":
		return action.PauseRequest{}, nil
	}
	end, err := time.Parse(time.RFC3339, until)
	if err != nil {
		return action.PauseRequest{}, misused("--until must be a time such as 2030-01-31T18:00:00Z, and is %q", until)
	}
	return action.PauseRequest{Until: &end}, nil
}

func (p *plugin) newResumeCommand() *cobra.Command {
	command := &cobra.Command{
		Use:     "resume KIND/NAME",
		Short:   "Let Windlass act on a paused object again",
		Long:    "Removes the annotation windlass.io/paused of an object of Windlass, of any kind.",
		Example: "  kubectl windlass resume vm/web",
	}
	return actsOn(p, command, addChange(command), pausable(), func(of target) (*edit[client.Object], error) {
		return &edit[client.Object]{
			of: of, done: "resumed", make: func(object client.Object) error { action.Resume(object); return nil },
			ending: true, // a paused Cluster waits with its deletion
		}, nil
	})
}
