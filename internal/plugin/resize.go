// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"github.com/spf13/cobra"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/action"
)

func (p *plugin) newResizeCommand() *cobra.Command {
	want := &action.ResizeRequest{}
	command := &cobra.Command{
		Use:   "resize vm/NAME",
		Short: "Change the size of a VirtualMachine",
		Long: "Changes spec.resource of a VirtualMachine. spec.updatePolicy says when the machine gets its new size. What is left out stays, and\n" +
			"a root disk only grows.",
		Example: "  kubectl windlass resize vm/web --cpu 4 --memory 8Gi",
	}
	flags := command.Flags()
	flags.StringVar(&want.CPU, "cpu", "", "`cores`, as in 2 or 500m")
	flags.StringVar(&want.Memory, "memory", "", "`bytes`, as in 4Gi")
	flags.StringVar(&want.RootDisk, "root-disk", "", "`bytes`, as in 40Gi")
	return actsOn(p, command, addChange(command), only("virtualmachines"), func(of target) (*edit[*cloudnativev1alpha1.VirtualMachine], error) {
		if *want == (action.ResizeRequest{}) {
			return nil, misused("give the new size: --cpu, --memory or --root-disk")
		}
		return &edit[*cloudnativev1alpha1.VirtualMachine]{
			of: of, done: "resized", make: func(vm *cloudnativev1alpha1.VirtualMachine) error { return action.Resize(vm, want) },
		}, nil
	})
}
