// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"errors"
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine/operation"
)

// refusal is why a host refuses to resize a machine. It is not a failure to start: the machine runs with the size that it has.
type refusal struct{ reason, message string }

// refusalOf returns the refusal that an earlier pass has recorded of this very spec, nil for none.
func refusalOf(vm *cloudnativev1alpha1.VirtualMachine, seen observation) *refusal {
	condition := apimeta.FindStatusCondition(vm.Status.Conditions, cloudnativev1alpha1.ConditionResourcesSynced)
	if seen.found == nil || sameSize(seen.found.Resources, seen.spec.Resources) || condition == nil ||
		condition.Status != metav1.ConditionFalse || condition.ObservedGeneration != vm.Generation {
		return nil
	}
	switch condition.Reason {
	case cloudnativev1alpha1.ReasonNoCapacity, cloudnativev1alpha1.ReasonInvalidSpec, cloudnativev1alpha1.ReasonUnsupported,
		cloudnativev1alpha1.ReasonResizeFailed:
		return &refusal{reason: condition.Reason, message: condition.Message}
	}
	return nil
}

// refuse takes into account that the host refuses the size. An operation that was to start the machine is planned again without
// the resize; any other one has failed.
func (p *planner) refuse(op operation.Progress) {
	reason := reasonOf(op.At, op.Err)
	p.refusal = &refusal{reason: reason, message: fmt.Sprintf("%s: %v", p.sizes(), op.Err)}
	if op.Has(operation.Start) {
		p.events = append(p.events, failed(p.vm, reason, p.refusal.message))
		return
	}
	p.fail(reason, op.Err.Error())
}

// sizes compares the size of the machine with that of the spec, in words.
func (p *planner) sizes() string {
	return fmt.Sprintf("the machine has %s; the spec asks for %s", sizeText(p.seen.found.Resources), sizeText(p.seen.spec.Resources))
}

// outsized reports whether the machine has to be resized before it starts.
func (p *planner) outsized() bool {
	return p.refusal == nil && !sameSize(p.seen.found.Resources, p.seen.spec.Resources)
}

// keepSize describes a machine whose size waits for somebody to do something.
func (p *planner) keepSize(reason, message string) {
	if p.refusal != nil {
		reason, message = p.refusal.reason, p.refusal.message
	}
	p.outcome = flow.Stall(reason, errors.New(message))
}
