// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/config"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/restore"
)

// newRestoreCommand returns the command that puts a backup into a cluster.
func newRestoreCommand() *cobra.Command {
	conf := config.Default(controllerNames()...)
	var files []string
	command := &cobra.Command{
		Use:   "restore -f FILE...",
		Short: "Restore objects of Windlass, with their statuses, from what kubectl has written of them",
		Long: "Create the objects of Windlass, and the Secrets and ConfigMaps, that the files have and the cluster has not, and write their\n" +
			"statuses: in them is what was done outside of the cluster. Of RoleBindings, it creates those that let Windlass use Secrets.\n" +
			"Nothing that exists is overwritten. No manager may run meanwhile: the command holds their Lease. Where that was held by a\n" +
			"manager that is gone, it first waits until the Lease has expired.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(files) == 0 {
				return errors.New("-f is required: it names a file of the backup, and can be given several times")
			}
			conf.FromEnv(config.OS())
			saved, err := readBackup(files)
			if err == nil {
				err = restoreBackup(cmd.Context(), &conf, saved, cmd.OutOrStdout())
			}
			if err != nil {
				return failure{err}
			}
			return nil
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringArrayVarP(&files, "filename", "f", nil, "`file` of the backup")
	flags.StringVar(&conf.Kubeconfig, "kubeconfig", conf.Kubeconfig, "`file` with the kubeconfig of the cluster")
	flags.StringVar(&conf.LeaseLockName, "lease-lock-name", conf.LeaseLockName, "`name` of the Lease of the managers")
	flags.StringVar(&conf.LeaseLockNamespace, "lease-lock-namespace", conf.LeaseLockNamespace, "`namespace` of that Lease, in which they also keep what is their own")
	complete(command)
	return command
}

func readBackup(files []string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, path := range files {
		file, err := os.Open(path) //nolint:gosec // because the person who calls the command names the file
		if err != nil {
			return nil, fmt.Errorf("cannot read the backup: %w", err)
		}
		objects, err := restore.Read(file)
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, fmt.Errorf("cannot read file %q: %w", path, err)
		}
		out = append(out, objects...)
	}
	return out, nil
}

func restoreBackup(ctx context.Context, conf *config.Config, saved []*unstructured.Unstructured, out io.Writer) error {
	restConfig, err := restConfig(conf.Kubeconfig, conf.Master)
	if err != nil {
		return err
	}
	api, err := client.New(restConfig, client.Options{Scheme: kube.NewScheme()})
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	restorer := restore.Restorer{
		Client: api, Out: out, Now: time.Now, After: time.After,
		Lease: client.ObjectKey{Namespace: conf.LeaseLockNamespace, Name: conf.LeaseLockName},
	}
	return restorer.Restore(ctx, saved)
}
