// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/windlass-operator/windlass/devcluster/internal/cluster"
	"github.com/windlass-operator/windlass/devcluster/internal/progress"
	"github.com/windlass-operator/windlass/devcluster/internal/realnode"
)

// imageCommand replaces a registry.
func imageCommand(opts *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "image",
		Short: "Manage the images of a real node",
		Args:  usageArgs(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(importCommand(opts))
	return cmd
}

// importCommand loads an image under any name, so that a test has its busybox without a download.
func importCommand(opts *options) *cobra.Command {
	var name string
	var image cluster.Image
	cmd := &cobra.Command{
		Use:   "import --name NAME --ref REF (--file TAR | --binary FILE)",
		Short: "Load an image into the containerd of a cluster's real node",
		Long: "import loads an archive from docker save or an OCI layout, or creates an image with one static program, which becomes\n" +
			"/bin/<its name> and the entry point. Pods refer to the image by REF, which needs a tag. Pods with imagePullPolicy\n" +
			"Always fail, because the real node contacts no registry.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkName(name); err != nil {
				return err
			}
			if (image.Archive == "") == (image.Program == "") {
				return usageError{errors.New("image import needs either --file or --binary")}
			}
			ref, err := realnode.ParseReference(image.Ref)
			if err != nil {
				return usageError{err}
			}
			return opts.withStore(cmd.ErrOrStderr(), func(store *cluster.Store, report *progress.Reporter) error {
				if err := store.ImportImage(cmd.Context(), name, image); err != nil {
					return err
				}
				report.Done("image %q is imported", ref)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the cluster")
	cmd.Flags().StringVar(&image.Ref, "ref", "", "name of the image, such as busybox:1.36")
	cmd.Flags().StringVar(&image.Archive, "file", "", "image archive to load (tar file)")
	cmd.Flags().StringVar(&image.Program, "binary", "", "static program to create an image from")
	return cmd
}
