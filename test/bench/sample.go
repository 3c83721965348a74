// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
)

// written is what Windlass has written for a PodSet.
type written struct {
	set    string // its name
	status []byte
	event  *eventsv1.Event
}

// machineSample is what Windlass writes for a VirtualMachine.
type machineSample struct {
	// name and uid of the VirtualMachine.
	name     string
	uid      types.UID
	statuses [][]byte
	event    *eventsv1.Event

	mu sync.Mutex
	// last is the last status that was seen: first the one that a VirtualMachine is created with. whole is true once that was the last one.
	last  []byte
	whole bool
}

// follow notes each status that is written for the VirtualMachine that is seen first, until it is Active or the context ends.
func (s *machineSample) follow(ctx context.Context, watchers cache.Cache) error {
	informer, err := watchers.GetInformer(ctx, &cloudnativev1alpha1.VirtualMachine{})
	if err != nil {
		return fmt.Errorf("cannot watch VirtualMachines: %w", err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: s.see, UpdateFunc: func(_, object any) { s.see(object) }})
	if err != nil {
		return fmt.Errorf("cannot watch VirtualMachines: %w", err)
	}
	return nil
}

func (s *machineSample) see(object any) {
	vm, ok := object.(*cloudnativev1alpha1.VirtualMachine)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !ok || s.whole || s.name != "" && s.name != vm.Name {
		return
	}
	status, err := json.Marshal(vm.Status)
	if err != nil || bytes.Equal(status, s.last) {
		return
	}
	if s.name != "" {
		s.statuses = append(s.statuses, status)
	}
	s.name, s.uid, s.last, s.whole = vm.Name, vm.UID, status, vm.Status.Phase == cloudnativev1alpha1.PhaseActive
}

// end takes the event that Windlass has sent for the VirtualMachine. It looks for it once: after all of them are Active, and Windlass is quiet.
func (s *machineSample) end(ctx context.Context, plane *controlPlane) error {
	if s.event != nil {
		return nil
	}
	if err := plane.audit.quiet(ctx, agentWindlass, silence); err != nil {
		return err
	}
	event, err := plane.eventOf(ctx, s.uid)
	s.event = event
	return err
}

// eventOf returns an event about the object with that UID.
func (r *controlPlane) eventOf(ctx context.Context, uid types.UID) (*eventsv1.Event, error) {
	list := &eventsv1.EventList{}
	if err := r.Client.List(ctx, list, client.InNamespace(benchNamespace)); err != nil {
		return nil, fmt.Errorf("cannot list events: %w", err)
	}
	for i := range list.Items {
		if list.Items[i].Regarding.UID == uid {
			return &list.Items[i], nil
		}
	}
	return nil, fmt.Errorf("cannot find an event of object %q among %d: Windlass sends one", uid, len(list.Items))
}

// tellOf sends an event about the object: the one that was sent for the object of the name, with that name replaced.
func tellOf(ctx context.Context, c client.Client, object client.Object, sent *eventsv1.Event, name string) error {
	event := sent.DeepCopy()
	event.ObjectMeta = metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: object.GetName() + ".floor"}
	event.Regarding.Name, event.Regarding.UID = object.GetName(), object.GetUID()
	event.Note = strings.ReplaceAll(event.Note, name, object.GetName())
	if err := c.Create(ctx, event); err != nil {
		return fmt.Errorf("cannot create an event: %w", err)
	}
	return nil
}
