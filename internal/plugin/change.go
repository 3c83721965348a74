// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/action"
	"github.com/windlass-operator/windlass/internal/kube"
)

// fieldManager owns what the plugin writes.
const fieldManager = "kubectl-windlass"

// changing is what commands that change an object have in common.
type changing struct {
	dry     dryRun
	yes     bool
	verbose bool
	output  *format
}

// addChange adds the flags of commands that change an object.
func addChange(command *cobra.Command) *changing {
	out := &changing{dry: dryRunNone, output: addOutput(command)}
	flags := command.Flags()
	flags.Var(&out.dry, "dry-run", "`how` far to go: none, client to send nothing, or server to send the change and store nothing")
	flags.BoolVarP(&out.verbose, "verbose", "v", false, "print the command of kubectl that does the same")
	values := []string{string(dryRunNone), string(dryRunClient), string(dryRunServer)}
	// It fails only for a flag that does not exist.
	_ = command.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	return out
}

// addConsent adds the flag that answers the question of a command before it is asked.
func (c *changing) addConsent(command *cobra.Command) *changing {
	command.Flags().BoolVarP(&c.yes, "yes", "y", false, "do not ask")
	return c
}

// edit is one change of one object.
type edit[O client.Object] struct {
	of target
	// done says what has become of the object, as in "turned off".
	done string
	// ask returns what to show before the change, and the question to ask; an empty question asks nothing, and so does a nil ask. It sees the
	// object that was read first.
	ask func(O) (shown, question string)
	// make changes the object, or returns why that makes no sense.
	make func(O) error
	// ending allows the change of an object that is being deleted.
	ending bool
}

// actsOn completes a command that makes one change of the object that its arguments name.
func actsOn[O client.Object](p *plugin, command *cobra.Command, with *changing, among []*kind, asked func(of target) (*edit[O], error)) *cobra.Command {
	command.Args = takes(1, 2)
	command.RunE = func(cmd *cobra.Command, args []string) error {
		of, err := objectOf(args, among)
		if err != nil {
			return err
		}
		do, err := asked(of)
		if err != nil {
			return err
		}
		return carryOut(cmd.Context(), p, with, do)
	}
	p.takesObject(command, among)
	return command
}

// carryOut reads the object, changes it and writes what differs, if nobody else has changed it since. Otherwise it decides anew.
func carryOut[O client.Object](ctx context.Context, p *plugin, with *changing, do *edit[O]) error {
	reached, err := p.cluster()
	if err != nil {
		return err
	}
	var first types.UID
	err = kube.DecideAnew(func() (outdated bool, err error) {
		object, err := readTyped[O](ctx, reached, do.of)
		if err != nil {
			return false, err
		}
		switch {
		case first != "" && first != object.GetUID():
			return false, fmt.Errorf("%s is another one of the same name by now: look at it again", nameOf(do.of.kind, object))
		case first == "":
			if err := decideOn(ctx, p, with, do, object); err != nil {
				return false, err
			}
		}
		first = object.GetUID()
		err = write(ctx, p, reached, with, do, object)
		return apierrors.IsConflict(err), err
	})
	if !apierrors.IsConflict(err) {
		return err
	}
	return fmt.Errorf("%s %s changes all the time: try again", do.of.singular(), do.of.name)
}

// readTyped reads the object that a change is about.
func readTyped[O client.Object](ctx context.Context, from *cluster, of target) (O, error) {
	var none O
	object, err := from.read(ctx, of)
	if err != nil {
		return none, err
	}
	typed, ok := object.(O)
	if !ok {
		return none, fmt.Errorf("cannot change a %T", object)
	}
	return typed, nil
}

// decideOn asks about a change, if it makes sense at all.
func decideOn[O client.Object](ctx context.Context, p *plugin, with *changing, do *edit[O], object O) error {
	if do.ask == nil {
		return nil
	}
	trial, _ := object.DeepCopyObject().(O) // of the same type
	if _, err := action.Patch(trial, do.ending, do.make); err != nil {
		return nil //nolint:nilerr // because it comes up again when the change is made, and is told then
	}
	shown, question := do.ask(object)
	say(p.Streams.Err, "%s", painted(printable(shown)))
	if question == "" {
		return nil
	}
	return p.consent(ctx, with, question)
}

// write changes the object that was read, and says so.
func write[O client.Object](ctx context.Context, p *plugin, reached *cluster, with *changing, do *edit[O], object O) error {
	patch, err := action.Patch(object, do.ending, do.make)
	if refusal, refused := errors.AsType[*action.Refusal](err); refused && refusal.Code == action.CodeNothingToDo {
		return p.told(with, do.of, object, "unchanged: "+refusal.Detail)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", nameOf(do.of.kind, object), err)
	}
	if with.verbose {
		if err := p.tellCommand(do.of, object, patch); err != nil {
			return err
		}
	}
	options := []client.PatchOption{client.FieldOwner(fieldManager), client.FieldValidation("Strict")}
	switch with.dry {
	case dryRunClient:
		return p.told(with, do.of, object, do.done+" (dry run)")
	case dryRunServer:
		options = append(options, client.DryRunAll)
	default:
	}
	if err := reached.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), options...); err != nil {
		return err
	}
	object.GetObjectKind().SetGroupVersionKind(do.of.gvk) // clients drop it
	return p.told(with, do.of, object, do.done+with.dry.note())
}

// told prints what has become of an object.
func (p *plugin) told(with *changing, of target, object client.Object, done string) error {
	switch {
	case with.output.structured():
		return p.printValue(*with.output, object)
	case *with.output == formatName:
		p.printf("%s\n", nameOf(of.kind, object))
	default:
		p.printf("%s %s\n", nameOf(of.kind, object), done)
	}
	return nil
}

// tellCommand prints the command of kubectl that does the same. It has no resourceVersion, which would be stale when it is pasted.
func (p *plugin) tellCommand(of target, object client.Object, patch []byte) error {
	var content map[string]any
	if err := json.Unmarshal(patch, &content); err != nil {
		return fmt.Errorf("cannot read the change of %q: %w", object.GetName(), err)
	}
	if metadata, ok := content["metadata"].(map[string]any); ok {
		delete(metadata, "uid")
		delete(metadata, "resourceVersion")
		if len(metadata) == 0 {
			delete(content, "metadata")
		}
	}
	body, err := json.Marshal(content)
	if err != nil {
		return err
	}
	within := ""
	if of.namespaced {
		within = " -n " + object.GetNamespace()
	}
	say(p.Streams.Err, "kubectl patch %s %s%s --type merge -p '%s'\n",
		of.qualified(), object.GetName(), within, strings.ReplaceAll(string(body), "'", `'\''`))
	return nil
}
