// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/windlass-operator/windlass/devcluster/internal/cluster"
)

// selection is which clusters a command works on: one, or all in the state directory.
type selection struct {
	name string
	all  bool
}

// bind adds the flags to a command.
func (s *selection) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.name, "name", "", "name of the cluster")
	cmd.Flags().BoolVar(&s.all, "all", false, "all clusters in the state directory, including those that were created from files")
}

// check finds the errors that need no state directory, before it is opened.
func (s *selection) check() error {
	switch {
	case s.all && s.name != "":
		return usageError{errors.New("--all does not go with --name")}
	case s.all:
		return nil
	}
	return checkName(s.name)
}

// each calls work for every cluster of the selection. One that fails does not keep it from the others.
func (s *selection) each(store *cluster.Store, work func(name string) error) error {
	names := []string{s.name}
	if s.all {
		var err error
		if names, err = store.Names(); err != nil {
			return err
		}
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, work(name))
	}
	return errors.Join(errs...)
}
