// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Stop stops the processes of a cluster and keeps its data. It reports whether anything ran.
func (s *Store) Stop(ctx context.Context, name string) (bool, error) {
	if err := s.exists(name); err != nil {
		return false, err
	}
	lock, err := s.lockCluster(ctx, name)
	if err != nil {
		return false, err
	}
	defer lock.release()
	state, err := s.load(name)
	if errors.Is(err, ErrNotFound) {
		// Its first start was killed before it had a state. What that has started is found without one.
		state, err = State{Name: name}, nil
	}
	if err != nil {
		return false, err
	}
	c := s.cluster(state)
	running, err := c.survey()
	if err != nil {
		return false, err
	}
	return len(running) > 0, c.stop(ctx)
}

// Delete stops the processes of a cluster and removes everything that was created for it, also in kubeconfigs. It reports
// whether there was anything to delete; a cluster that does not exist is not an error.
func (s *Store) Delete(ctx context.Context, name string) (bool, error) {
	if err := s.exists(name); errors.Is(err, ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	lock, err := s.lockCluster(ctx, name)
	if err != nil {
		return false, err
	}
	if err := s.delete(ctx, name); err != nil {
		lock.release()
		return false, err
	}
	lock.remove()
	return true, nil
}

// delete continues after errors where it can, and removes the directory last: until then the command can be repeated.
func (s *Store) delete(ctx context.Context, name string) error {
	// Deletion is the remedy for a damaged state, so it must not fail because of that. A state of another user is not damaged,
	// and its processes would run on.
	state, err := s.load(name)
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err != nil {
		state = State{}
	}
	state.Name = name
	c := s.cluster(state)
	if err := c.stop(ctx); err != nil {
		return err
	}
	for _, path := range state.Kubeconfigs {
		// An unreadable file of the user must not prevent the deletion of the cluster.
		if err := c.withdrawKubeconfig(ctx, path); err != nil {
			s.progress.Done("continuing without this kubeconfig: %v", err)
		}
	}
	if err := os.RemoveAll(c.dir); err != nil {
		return fmt.Errorf("cannot remove directory %q: %w", c.dir, err)
	}
	return nil
}

// exists also rejects names that lead out of the state directory.
func (s *Store) exists(name string) error {
	if err := ValidateName(name); err != nil {
		return err
	}
	if _, err := os.Stat(s.clusterDir(name)); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %q (run 'devcluster list' to see all clusters)", ErrNotFound, name)
	} else if err != nil {
		return fmt.Errorf("cannot read cluster %q: %w", name, err)
	}
	return nil
}

// Kubeconfig returns the path of a cluster's kubeconfig in the state directory.
func (s *Store) Kubeconfig(name string) (string, error) {
	if err := s.exists(name); err != nil {
		return "", err
	}
	path := s.cluster(State{Name: name}).adminKubeconfig()
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("cannot find the kubeconfig of cluster %q, run 'devcluster up' to create it: %w", name, err)
	}
	return path, nil
}
