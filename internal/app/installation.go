// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-operator/windlass/internal/config"
	"github.com/windlass-operator/windlass/internal/machine"
)

// leaveGrace is how long machines that are stopped or deleted together can take to shut down.
const leaveGrace = 5 * time.Second

// newMachinesCommand returns the commands for the machines of an installation that no manager runs for any more.
func newMachinesCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "machines",
		Short: "Stop, start or delete the machines that an installation has on its hosts",
		Long: "Stop, start or delete all machines that an installation has on its hosts, without its cluster: when the cluster is\n" +
			"switched off, or is gone and has left machines behind. Use it only while no manager of the installation runs, because a\n" +
			"manager reverts what it does.",
		Args: cobra.NoArgs,
	}
	command.AddCommand(
		newMachinesVerb("stop", "Stop all machines of an installation, and print the UID of each that ran", cobra.NoArgs,
			func(ctx context.Context, d machine.Driver, found machine.Observed, _ []string) (bool, error) {
				if found.State != machine.StateRunning {
					return false, nil
				}
				return true, d.Stop(ctx, found.Identity, machine.PowerOff{Mode: machine.TrySoft, Grace: leaveGrace})
			}),
		newMachinesVerb("start [UID...]", "Start the machines of an installation that have these UIDs, and print each", cobra.ArbitraryArgs,
			func(ctx context.Context, d machine.Driver, found machine.Observed, uids []string) (bool, error) {
				if !slices.Contains(uids, found.UID) {
					return false, nil
				}
				return true, d.Start(ctx, found.Identity)
			}),
		newMachinesVerb("delete", "Delete all machines of an installation with their data, and print the UID of each", cobra.NoArgs,
			func(ctx context.Context, d machine.Driver, found machine.Observed, _ []string) (bool, error) {
				return true, d.Delete(ctx, found.Identity, machine.PowerOff{Mode: machine.TrySoft, Grace: leaveGrace})
			}),
	)
	return command
}

// verb does something to one machine, and reports whether there was anything to do.
type verb func(ctx context.Context, d machine.Driver, found machine.Observed, args []string) (bool, error)

func newMachinesVerb(use, short string, args cobra.PositionalArgs, do verb) *cobra.Command {
	conf := config.Default().Machines
	installation := ""
	command := &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			if installation == "" {
				return errors.New("--installation is required: it is the UID of the namespace kube-system of the cluster")
			}
			if err := conf.Validate(); err != nil {
				return err
			}
			hosts, err := machineHosts(&conf, os.Getenv, os.ReadFile)
			if err != nil {
				return err
			}
			machines := machinesOf{installation: installation, out: cmd.OutOrStdout(), do: func(
				ctx context.Context, d machine.Driver, found machine.Observed,
			) (bool, error) {
				return do(ctx, d, found, args)
			}}
			var errs []error
			for _, host := range hosts {
				errs = append(errs, machines.on(cmd.Context(), host))
			}
			if err := errors.Join(errs...); err != nil {
				return failure{err}
			}
			return nil
		},
	}
	command.Flags().SortFlags = false
	command.Flags().StringVar(&installation, "installation", "", "`UID` of the namespace kube-system of the cluster, required")
	conf.BindHostFlags(command.Flags())
	complete(command)
	return command
}

// machinesOf does the same to all machines of an installation.
type machinesOf struct {
	installation string
	out          io.Writer
	do           func(ctx context.Context, d machine.Driver, found machine.Observed) (bool, error)

	mu sync.Mutex
}

// on works on the machines of one host, all at the same time: each of them can take its whole grace.
func (m *machinesOf) on(ctx context.Context, host machine.Host) error {
	driver, err := openDriver(ctx, host)
	if err != nil {
		return err
	}
	defer func() { _ = driver.Close() }()
	found, err := driver.List(ctx, m.installation)
	if err != nil {
		return fmt.Errorf("cannot list the machines on host %q: %w", host.Name, err)
	}
	errs := make([]error, len(found))
	var working sync.WaitGroup
	for i, each := range found {
		working.Go(func() {
			done, err := m.do(ctx, driver, each)
			if err == nil && done {
				err = m.tell(each.UID)
			}
			if err != nil {
				errs[i] = fmt.Errorf("machine %q on host %q: %w", each.NativeName, host.Name, err)
			}
		})
	}
	working.Wait()
	return errors.Join(errs...)
}

func (m *machinesOf) tell(uid string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := fmt.Fprintln(m.out, uid)
	return err
}
