// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/patch"
)

// keeper owns, beside Windlass, what people may have added to the objects that Windlass applies.
const keeper = "windlass-restore"

// Restorer restores a backup.
type Restorer struct {
	Client client.Client
	Out    io.Writer
	// Now and After are the clock.
	Now   func() time.Time
	After func(time.Duration) <-chan time.Time
	// Lease is that of the managers of this cluster. What they keep is in its namespace.
	Lease client.ObjectKey

	// lease is the Lease as it was last read or written, nil if there is none. Renewed is when it was last signed, zero if it is not held.
	lease   *coordinationv1.Lease
	renewed time.Time
	// narrow is true if the Leases of other namespaces cannot be looked at.
	narrow bool
}

// Read reads the objects of a file, which kubectl has written as YAML or JSON.
func Read(from io.Reader) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(from, 4096)
	var out []*unstructured.Unstructured
	for {
		var document runtime.RawExtension
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err == nil && len(document.Raw) > 0 {
			out, err = appendTo(out, document.Raw)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the backup: %w", err)
		}
	}
}

// appendTo adds the object of a document, or the objects of its list.
func appendTo(out []*unstructured.Unstructured, document []byte) ([]*unstructured.Unstructured, error) {
	object, _, err := unstructured.UnstructuredJSONScheme.Decode(document, nil, nil)
	if err != nil {
		return out, err
	}
	switch object := object.(type) {
	case *unstructured.UnstructuredList:
		for i := range object.Items {
			out = append(out, &object.Items[i])
		}
	case *unstructured.Unstructured:
		out = append(out, object)
	}
	return out, nil
}

// Restore creates what the backup has and the cluster has not, and then writes the statuses. Before it creates anything it fails if a manager runs, and
// until it ends it holds the Lease of the managers.
func (r *Restorer) Restore(ctx context.Context, saved []*unstructured.Unstructured) error {
	if err := identified(saved); err != nil {
		return err
	}
	if err := r.nobodyLeads(ctx); err != nil {
		return err
	}
	return errors.Join(r.restore(ctx, saved), r.release(ctx))
}

// identified returns an error if an object of Windlass lacks the UID by which hosts, clusters and other objects name it.
func identified(saved []*unstructured.Unstructured) error {
	for _, object := range saved {
		kind := object.GroupVersionKind().GroupKind()
		ours := slices.Contains(order(), kind) && kind.Group != "" && kind.Group != rbacv1.GroupName
		if ours && object.GetUID() == "" {
			return fmt.Errorf("cannot restore %s %q: the backup does not have its metadata.uid, by which hosts and other objects name it; "+
				"save it with \"kubectl get -o yaml\"", kind.Kind, client.ObjectKeyFromObject(object))
		}
	}
	return nil
}

func (r *Restorer) restore(ctx context.Context, saved []*unstructured.Unstructured) error {
	installation, unknown, err := r.installation(ctx, saved)
	if err != nil {
		return err
	}
	now, err := r.nodes(ctx, saved)
	if err != nil {
		return err
	}
	var made []pair
	for _, kind := range order() {
		for _, object := range saved {
			if object.GroupVersionKind().GroupKind() != kind || isSkipped(object) {
				continue
			}
			created, err := r.create(ctx, object, now)
			if err != nil {
				return err
			}
			if created != nil {
				made = append(made, pair{object, created})
			}
		}
	}
	for _, one := range made {
		if err := r.writeStatus(ctx, one, now); err != nil {
			return err
		}
	}
	return r.conclude(ctx, saved, installation, unknown)
}

// pair is an object of the backup and what was made of it.
type pair struct{ saved, created *unstructured.Unstructured }

// nodes returns the new UIDs of the nodes, which are not restored: they join by themselves. A node without the record of what pools have put there
// has joined anew, and nothing of its namesake's was replaced on it.
func (r *Restorer) nodes(ctx context.Context, saved []*unstructured.Unstructured) (renamed, error) {
	now := renamed{}
	list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NodeList"}}
	if err := r.Client.List(ctx, list); err != nil {
		return nil, fmt.Errorf("cannot list nodes: %w", err)
	}
	uids := make(map[string]types.UID, len(list.Items))
	for i := range list.Items {
		if list.Items[i].Annotations[nodesv1.AppliedAnnotation] != "" {
			uids[list.Items[i].Name] = list.Items[i].UID
		}
	}
	for _, object := range saved {
		if uid, ok := uids[object.GetName()]; ok && object.GetKind() == "Node" {
			now.note(object.GetUID(), uid)
		}
	}
	return now, nil
}

// create creates an object, and notes its UID. It returns nil if there is no status to write: the object was there already, and has one.
func (r *Restorer) create(ctx context.Context, saved *unstructured.Unstructured, now renamed) (*unstructured.Unstructured, error) {
	name := fmt.Sprintf("%s %q", saved.GetKind(), client.ObjectKeyFromObject(saved))
	if err := r.hold(ctx); err != nil {
		return nil, err
	}
	object := fresh(saved, now)
	exists, err := r.put(ctx, object)
	if exists {
		err = r.Client.Get(ctx, client.ObjectKeyFromObject(saved), object)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot restore %s: %w", name, err)
	}
	now.note(saved.GetUID(), object.GetUID())
	switch {
	case !exists && saved.GetDeletionTimestamp() != nil:
		return object, r.say("%s created, although it was being deleted when the backup was made; delete it again if that was right", name)
	case !exists:
		return object, r.say("%s created", name)
	}
	if saved.GetKind() == "Namespace" {
		return nil, nil
	}
	if saved.Object["status"] != nil && isUnwritten(object) {
		return object, r.say("%s is there without a status", name) // an earlier restore was broken off
	}
	return nil, r.say("%s is there already, and stays as it is", name)
}

// put creates an object that is not there, and reports whether it is. What Windlass applies is applied here as well: of what is created otherwise, no
// later apply could take anything away. What people have added to it they keep: it has this second owner.
func (r *Restorer) put(ctx context.Context, object *unstructured.Unstructured) (exists bool, err error) {
	if !isApplied(object) {
		err := r.Client.Create(ctx, object)
		return apierrors.IsAlreadyExists(err), err
	}
	lasting := withoutContent(object)
	if err := patch.CreateUnstructured(ctx, r.Client, object); err != nil {
		return apierrors.IsConflict(err), err
	}
	lasting.SetUID(object.GetUID())
	if err := r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(lasting), client.FieldOwner(keeper)); err != nil {
		return false, err
	}
	object.SetResourceVersion(lasting.GetResourceVersion())
	return false, nil
}

// writeStatus writes the status of an object that has none.
func (r *Restorer) writeStatus(ctx context.Context, one pair, now renamed) error {
	status := statusOf(one.saved, one.created, now)
	if status == nil || one.saved.GetKind() == "Namespace" {
		return nil
	}
	if err := r.hold(ctx); err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": one.created.GetUID(), "resourceVersion": one.created.GetResourceVersion()}, "status": status,
	})
	if err != nil {
		return fmt.Errorf("cannot encode a status: %w", err)
	}
	err = r.Client.Status().Patch(ctx, one.created, client.RawPatch(types.MergePatchType, body))
	if err != nil {
		return fmt.Errorf("cannot restore the status of %s %q: %w", one.saved.GetKind(), client.ObjectKeyFromObject(one.saved), err)
	}
	return nil
}
