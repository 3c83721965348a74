// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/action"
)

// maxGrace is how long a machine may take to shut down, in seconds.
const maxGrace = 3600

// powerWords are what can be said to a machine, and what has become of it then.
func powerWords() (words []string, done map[string]string) {
	done = map[string]string{
		"on": "turned on", "off": "turned off", "restart": "is to be restarted", "suspend": "is to be suspended", "resume": "is to be resumed",
	}
	return []string{"on", "off", "restart", "suspend", "resume"}, done
}

// powerAsked is what a call of the command asks.
type powerAsked struct {
	*changing

	hard  bool
	grace int32
	// hardGiven is true if --hard or --hard=false was given.
	hardGiven bool
}

// mode returns what spec.powerOff.mode is to become, empty if it is to stay. Who does not want the power to be cut may keep a machine that is asked
// only, and never cut.
func (a *powerAsked) mode(vm *cloudnativev1alpha1.VirtualMachine) cloudnativev1alpha1.PowerOffMode {
	switch {
	case a.hard:
		return cloudnativev1alpha1.PowerOffHard
	case a.hardGiven && vm.Spec.PowerOff.Mode == cloudnativev1alpha1.PowerOffHard:
		return cloudnativev1alpha1.PowerOffTrySoft
	default:
		return ""
	}
}

// ask asks about a cut, whether it is the call that wants it or the machine's own spec.
func (a *powerAsked) ask(vm *cloudnativev1alpha1.VirtualMachine) (shown, question string) {
	if cmp.Or(a.mode(vm), vm.Spec.PowerOff.Mode) != cloudnativev1alpha1.PowerOffHard {
		return "", ""
	}
	if !a.hard {
		shown = fmt.Sprintf("spec.powerOff.mode of VirtualMachine %s is Hard. With --hard=false the machine is asked to shut down.\n", vm.Name)
	}
	return shown, fmt.Sprintf("Cut the power of VirtualMachine %s in namespace %s? What it has not written to its disks is lost.", vm.Name, vm.Namespace)
}

func (p *plugin) newPowerCommand() *cobra.Command {
	among := only("virtualmachines")
	words, _ := powerWords()
	asked := &powerAsked{}
	command := &cobra.Command{
		Use:   "power on|off|restart|suspend|resume vm/NAME",
		Short: "Turn a VirtualMachine on or off, restart, suspend or resume it",
		Long: "Changes the spec of a VirtualMachine: restart sets spec.restartAt, and the others spec.runStrategy. A suspended machine keeps its\n" +
			"memory and uses no CPU. How a machine is turned off stays in spec.powerOff: after --hard its power is cut each time, until\n" +
			"--hard=false. A machine whose power is cut can lose data, so that is asked about each time.",
		Example: "  kubectl windlass power on vm/web\n" +
			"  kubectl windlass power off vm/web --hard\n" +
			"  kubectl windlass power restart vm/web -n shop",
		Args: takes(2, 3),
	}
	asked.changing = addChange(command).addConsent(command)
	flags := command.Flags()
	flags.BoolVar(&asked.hard, "hard", false, "cut the power instead of asking the machine to shut down. The default is what spec.powerOff.mode says")
	flags.Int32Var(&asked.grace, "grace-period", -1, "how many `seconds` the machine may take to shut down")
	command.RunE = func(cmd *cobra.Command, args []string) error {
		if !slices.Contains(words, args[0]) {
			return misused("%q is nothing that a machine can be told: it is one of %s", args[0], strings.Join(words, ", "))
		}
		of, err := objectOf(args[1:], among)
		if err != nil {
			return err
		}
		asked.hardGiven = flags.Changed("hard")
		do, err := p.powerChange(of, args[0], asked)
		if err != nil {
			return err
		}
		return carryOut(cmd.Context(), p, asked.changing, do)
	}
	p.takesWordAndObject(command, words, among)
	return command
}

// powerChange returns the change that is asked for.
func (p *plugin) powerChange(of target, word string, asked *powerAsked) (*edit[*cloudnativev1alpha1.VirtualMachine], error) {
	_, done := powerWords()
	ends := word == "off" || word == "restart"
	switch {
	case asked.grace < -1 || asked.grace > maxGrace:
		return nil, misused("--grace-period must be 0 to %d seconds", maxGrace)
	case !ends && (asked.hardGiven || asked.grace >= 0):
		return nil, misused("--hard and --grace-period say how a machine is turned off: leave them out with %s", word)
	}
	do := &edit[*cloudnativev1alpha1.VirtualMachine]{of: of, done: done[word], make: func(vm *cloudnativev1alpha1.VirtualMachine) error {
		want := &action.PowerRequest{State: word, Mode: asked.mode(vm)}
		if asked.grace >= 0 {
			want.GracePeriodSeconds = &asked.grace
		}
		return action.Power(vm, want, p.Now())
	}}
	if ends {
		do.ask = asked.ask
	}
	return do, nil
}
